import { Group } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { PauseButton } from '../actions/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Age, Dimmed, duration, NONE, Status } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

/** As the overview has it. */
const LATE_SECONDS = 120

function Lag({ lagSeconds }: AdminRow<'networks'>) {
  if (lagSeconds === null) return <Status value="never at its head" />
  return lagSeconds > LATE_SECONDS ? <Status value={`late by ${duration(lagSeconds)}`} /> : duration(lagSeconds)
}

const Pauses = ({ pauses }: AdminRow<'networks'>) =>
  pauses.length === 0 ? NONE : pauses.map((scope) => <div key={String(scope)}>{String(scope)}</div>)

function NetworkActions({ network, pauses }: AdminRow<'networks'>) {
  const [whole, payouts] = [`network:${network}`, `payouts:${network}`]
  return (
    <Group gap={6}>
      <PauseButton scope={whole} isPaused={pauses.includes(whole)} what={network} />
      <PauseButton scope={payouts} isPaused={pauses.includes(payouts)} what={`payouts of ${network}`} />
      <ActionButton action="rescans-begin" label="Read blocks again" given={{ network }} />
    </Group>
  )
}

export const Page = () => (
  <>
    <PageHeader title="Networks" description="The hosts of their nodes, the last recorded block, lag and pauses." />
    <WholeList
      read="networks"
      label="Networks"
      everyMs={5_000}
      rowKey={({ network }) => network}
      textOf={({ network, family, endpoints }) => `${network} ${family} ${endpoints.join(' ')}`}
      columns={[
        {
          title: 'Network',
          cell: ({ network, family }) => (
            <>
              {network} <Dimmed>{family}</Dimmed>
            </>
          ),
        },
        {
          title: 'Nodes',
          cell: ({ endpoints }) =>
            endpoints.length === 0 ? NONE : endpoints.map((host) => <div key={String(host)}>{String(host)}</div>),
        },
        { title: 'Block', isNumber: true, cell: ({ height }) => height ?? NONE },
        { title: 'Recorded', cell: ({ scannedAt }) => <Age at={scannedAt} /> },
        { title: 'Behind its head', cell: (row) => <Lag {...row} /> },
        { title: 'Pauses', cell: (row) => <Pauses {...row} /> },
        { title: 'Actions', cell: (row) => <NetworkActions {...row} /> },
      ]}
    />
  </>
)
