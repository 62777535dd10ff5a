import { Stack } from '@mantine/core'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Amount, Hash } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

/** `0x…@eth` as the address of the token and its network. */
function Token({ currency }: Readonly<{ currency: string }>) {
  const [token = '', network = ''] = currency.split('@')
  return (
    <>
      <Hash text={token} /> {network}
    </>
  )
}

export const Page = () => (
  <>
    <PageHeader title="Swap fees" description="Fees of swaps that you collect for partners, by the ledger.">
      <ActionButton action="partners-fees-paid" label="Book fees that you sent" />
      <ActionButton action="partners-fees-search" label="Search blocks again" />
    </PageHeader>
    <Stack>
      <Panel title="At your addresses">
        <DataList
          read="swapFees"
          label="Held swap fees"
          isPaged
          cursorName="held"
          rowKey={({ address, currency }) => `${address} ${currency}`}
          empty="Your addresses hold no swap fees."
          columns={[
            { title: 'Address', cell: ({ address }) => <Hash text={address} /> },
            { title: 'Token', cell: ({ currency }) => <Token currency={currency} /> },
            { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount value={amount} /> },
          ]}
        />
      </Panel>
      <Panel title="Without a known partner">
        <DataList
          read="unclaimedFees"
          label="Swap fees without a known partner"
          isPaged
          cursorName="unclaimed"
          rowKey={({ network, hash, token, feeTo, units }) => `${network} ${hash} ${token} ${feeTo} ${units}`}
          empty="The partner of every fee is known."
          columns={[
            { title: 'Network', cell: ({ network }) => network },
            { title: 'Block', isNumber: true, cell: ({ height }) => height },
            { title: 'Transaction', cell: ({ hash }) => <Hash text={hash} /> },
            { title: 'Token', cell: ({ token }) => <Hash text={token} /> },
            { title: 'Base units', isNumber: true, cell: ({ units }) => <Amount value={units} /> },
            { title: 'Sender', cell: ({ sender }) => <Hash text={sender} /> },
            { title: 'Received at', cell: ({ feeTo }) => <Hash text={feeTo} /> },
          ]}
        />
      </Panel>
    </Stack>
  </>
)
