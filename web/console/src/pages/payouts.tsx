import { PageHeader } from '../app/page-header.tsx'
import { Amount, ExchangeLink, Flag, Hash, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

export const Page = () => (
  <>
    <PageHeader title="Payouts" />
    <DataList
      read="payouts"
      label="Payouts"
      isPaged
      rowKey={({ id }) => id}
      empty="No payout matches."
      filters={[
        { name: 'state', label: 'State', options: ['reserved', 'signed', 'confirmed', 'void'] },
        { name: 'attention', label: 'Attention', options: ['held'] },
      ]}
      columns={[
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Purpose', cell: ({ purpose }) => purpose },
        { title: 'State', cell: ({ state }) => <Status value={state} /> },
        { title: 'Attention', cell: ({ attention }) => attention ?? NONE },
        { title: 'Amount', isNumber: true, cell: (row) => <Amount value={row.amount} currency={row.currency} /> },
        { title: 'Recipient', cell: ({ address }) => <Hash text={address} /> },
        { title: 'Exchange', cell: ({ exchangeId }) => <ExchangeLink id={exchangeId} /> },
        { title: 'Reversed', cell: ({ reversed }) => <Flag value={reversed} /> },
      ]}
    />
  </>
)
