import { List } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { PageHeader } from '../app/page-header.tsx'
import { Amount, Status } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

/** As the alarms page has them. */
type Alarm = Pick<AdminRow<'alarms'>, 'subject' | 'alarm'>

const Differences = ({ alarms }: Readonly<{ alarms: readonly Alarm[] }>) =>
  alarms.length === 0 ? (
    <Status value="none" />
  ) : (
    <List size="sm">
      {alarms.map(({ subject, alarm }) => (
        <List.Item key={subject}>
          {subject}: {alarm}
        </List.Item>
      ))}
    </List>
  )

export const Page = () => (
  <>
    <PageHeader
      title="Reconciliation"
      description="What hot wallets hold by the ledger, between the least and the most with unconfirmed transactions, and the alarms about what chains show otherwise."
    />
    <WholeList
      read="reconciliation"
      label="Reconciliation"
      everyMs={15_000}
      rowKey={({ network, currency }) => `${network} ${currency}`}
      textOf={({ network, currency }) => `${network} ${currency}`}
      empty="No hot wallet holds coins."
      columns={[
        { title: 'Network', cell: ({ network }) => network },
        { title: 'Currency', cell: ({ currency }) => currency },
        { title: 'Least', isNumber: true, cell: ({ low }) => <Amount value={low} /> },
        { title: 'Most', isNumber: true, cell: ({ high }) => <Amount value={high} /> },
        { title: 'Differences', cell: ({ alarms }) => <Differences alarms={alarms as readonly Alarm[]} /> },
      ]}
    />
  </>
)
