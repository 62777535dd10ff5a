import { Group, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { useList } from '../api/reads.ts'
import { PageHeader } from '../app/page-header.tsx'
import { Amount, Dimmed, Hash } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

type Wallet = AdminRow<'wallets'>

/** Networks whose wallets hold outputs, which can be split and merged. */
function useBitcoinFamily(): ReadonlySet<string> {
  const { data } = useList('networks')
  return new Set(data?.data.filter(({ family }) => family === 'bitcoin').map(({ network }) => network))
}

/** Below each other: four amounts of 18 decimals are wider than a screen. */
const Balances = ({ held, available, keptForFees, missingFees, freeCapital: free }: Wallet) => (
  <>
    {Object.entries({ held, available, 'for fees': keptForFees, free }).map(([name, amount]) => (
      <div key={name}>
        <Dimmed>{name}</Dimmed> <Amount value={amount} />
      </div>
    ))}
    {missingFees && <Dimmed>lacks {missingFees} for fees</Dimmed>}
  </>
)

function WalletActions({ wallet, hasOutputs }: Readonly<{ wallet: Wallet; hasOutputs: boolean }>) {
  const { currency, held, keptForFees, missingFees, freeCapital } = wallet
  const [, network = ''] = currency.split('@')
  const balances = (
    <Text size="sm">
      The wallet holds <Amount value={held} currency={currency} />; <Amount value={freeCapital} /> of it is free
      capital. It keeps <Amount value={keptForFees} /> for network fees: of this withdrawal, the queue and unpaid fixed
      rates. {missingFees && <>Nothing is free until it holds {missingFees} more for network fees.</>}
    </Text>
  )
  return (
    <Group gap={6}>
      <ActionButton action="treasury-withdraw" label="Withdraw" given={{ currency }}>
        {balances}
      </ActionButton>
      <ActionButton action="treasury-ceiling" label="Withdraw above a ceiling" given={{ currency }}>
        {balances}
      </ActionButton>
      {hasOutputs && (
        <>
          <ActionButton action="treasury-split" label="Split outputs" given={{ network }} />
          <ActionButton action="treasury-consolidate" label="Merge outputs" given={{ network }} />
        </>
      )}
    </Group>
  )
}

export function Page() {
  const bitcoinFamily = useBitcoinFamily()
  return (
    <>
      <PageHeader
        title="Wallets and treasury"
        description="Hot wallets by the ledger. Withdrawals go to addresses of treasury.coldAddresses only."
      />
      <WholeList
        read="wallets"
        label="Hot wallets"
        everyMs={15_000}
        rowKey={({ currency }) => currency}
        textOf={({ currency, address }) => `${currency} ${address}`}
        empty="No hot wallet holds coins."
        columns={[
          { title: 'Currency', cell: ({ currency }) => currency },
          { title: 'Balances', isNumber: true, cell: (wallet) => <Balances {...wallet} /> },
          { title: 'Address', cell: ({ address, addressUrl }) => <Hash text={address} url={addressUrl} /> },
          {
            title: 'Actions',
            cell: (wallet) => (
              <WalletActions wallet={wallet} hasOutputs={bitcoinFamily.has(wallet.currency.split('@')[1] ?? '')} />
            ),
          },
        ]}
      />
    </>
  )
}
