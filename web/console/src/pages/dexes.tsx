import { Group, Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActButton } from '../acts/act-button.tsx'
import { PauseButton } from '../acts/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Age, Json, NONE, Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { WholeList } from '../lists/whole-list.tsx'

/** As server/src/admin/reads/market-reads.ts writes it. */
type Depth = Readonly<{ alarm: Readonly<{ alarm: string; detail: unknown }> | null }>

function ShowDepth({ depth, network }: AdminRow<'pools'>) {
  const { alarm } = depth as Depth
  if (alarm === null) return <Status value="sufficient" />
  return (
    <details>
      <summary>{alarm.alarm}</summary>
      <Json value={alarm.detail} label={`Depth on ${network}`} />
    </details>
  )
}

const Pauses = ({ pauses }: AdminRow<'pools'>) =>
  pauses.length === 0 ? (
    NONE
  ) : (
    <Stack gap={6}>
      {pauses.map(String).map((scope) => (
        <Group key={scope} gap={6}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {scope}
          </Text>
          <PauseButton scope={scope} isPaused />
        </Group>
      ))}
    </Stack>
  )

export const Page = () => (
  <>
    <PageHeader title="DEXes and pools" description="Routes of swaps avoid what is paused." />
    <Stack>
      <Panel title="State of the pools">
        <DataList
          read="pools"
          label="State of the pools"
          everyMs={10_000}
          rowKey={({ network }) => network}
          empty="The pools of no network are known."
          columns={[
            { title: 'Network', cell: ({ network }) => network },
            { title: 'Block', isNumber: true, cell: ({ height }) => height },
            { title: 'Stored', cell: ({ savedAt }) => <Age at={savedAt} /> },
            { title: 'Depth', cell: (row) => <ShowDepth {...row} /> },
            { title: 'Paused', cell: (row) => <Pauses {...row} /> },
            {
              title: 'Acts',
              cell: ({ network }) => (
                <ActButton act="pauses-begin" label="Pause a pool" initial={{ scope: `pool:POOL@${network}` }} />
              ),
            },
          ]}
        />
      </Panel>
      <Panel title="DEXes">
        <WholeList
          read="dexes"
          label="DEXes"
          rowKey={({ scope }) => scope}
          textOf={({ network, dex, kind }) => `${network} ${dex} ${kind}`}
          columns={[
            { title: 'Network', cell: ({ network }) => network },
            { title: 'DEX', cell: ({ dex }) => dex },
            { title: 'Kind', cell: ({ kind }) => kind },
            { title: 'State', cell: ({ paused }) => <Status value={paused ? 'paused' : 'open'} /> },
            {
              title: 'Acts',
              cell: ({ scope, dex, paused }) => <PauseButton scope={scope} isPaused={paused} what={dex} />,
            },
          ]}
        />
      </Panel>
    </Stack>
  </>
)
