import type { AdminRow, swapStatuses as wireStatuses } from '@swapyard/schema'
import { PageHeader } from '../app/page-header.tsx'
import { Amount, Dimmed, Hash, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Swap = AdminRow<'swaps'>

/** As the schema has them, by their type. */
const swapStatuses: typeof wireStatuses = ['pending', 'confirming', 'finished', 'failed']

const State = ({ status, reason, reported }: Swap) => (
  <>
    <Status value={status} /> {reason && <Dimmed>{reason}</Dimmed>} {!reported && <Dimmed>not reported</Dimmed>}
  </>
)

const Side = ({ amount, token }: Readonly<{ amount: string; token: string }>) => (
  <>
    <Amount value={amount} /> <Hash text={token} />
  </>
)

export const Page = () => (
  <>
    <PageHeader title="Swaps" description="Newest first. Amounts are in coins of the token beside them." />
    <DataList
      read="swaps"
      label="Swaps"
      isPaged
      rowKey={({ id }) => id}
      empty="No swap matches."
      filters={[
        { name: 'hash', label: 'Hash of the transaction', width: 320 },
        { name: 'status', label: 'Status', options: swapStatuses },
        { name: 'partner', label: 'Partner', width: 140 },
      ]}
      columns={[
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Network', cell: ({ network }) => network },
        { title: 'Status', cell: (row) => <State {...row} /> },
        { title: 'In', isNumber: true, cell: ({ amountIn, tokenIn }) => <Side amount={amountIn} token={tokenIn} /> },
        {
          title: 'Quoted',
          isNumber: true,
          cell: ({ expected, tokenOut }) => <Side amount={expected} token={tokenOut} />,
        },
        { title: 'Received', isNumber: true, cell: ({ received }) => <Amount value={received} /> },
        { title: 'Transaction', cell: ({ hash, txUrl }) => <Hash text={hash} url={txUrl} /> },
        { title: 'Sender', cell: ({ sender }) => <Hash text={sender} /> },
        { title: 'Recipient', cell: ({ recipient }) => <Hash text={recipient} /> },
        { title: 'Partner', cell: ({ partner }) => partner ?? NONE },
      ]}
    />
  </>
)
