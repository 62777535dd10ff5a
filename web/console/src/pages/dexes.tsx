import { Anchor, Group, Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { Link } from 'react-router'
import { PauseButton } from '../actions/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Age, Amount, Dimmed, Json, NONE, Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { WholeList } from '../lists/whole-list.tsx'

/** As server/src/admin/reads/pool-reads.ts writes it. */
type Depth = Readonly<{
  now: string | null
  maximum: string | null
  currency: string | null
  alarm: Readonly<{ alarm: string; detail: unknown }> | null
}>

function ShowDepth({ depth, network }: AdminRow<'pools'>) {
  const { now, maximum, currency, alarm } = depth as Depth
  return (
    <Stack gap={2}>
      <Amount value={now} currency={currency} />
      {maximum !== null && (
        <Dimmed>
          at most <Amount value={maximum} /> in 24 h
        </Dimmed>
      )}
      {alarm !== null && (
        <details>
          <summary>{alarm.alarm}</summary>
          <Json value={alarm.detail} label={`Depth on ${network}`} />
        </details>
      )}
    </Stack>
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

const PoolsLink = ({ network }: Readonly<{ network: string }>) => (
  <Anchor component={Link} to={`/pools?${new URLSearchParams({ network })}`} underline="always" inherit>
    Pools of {network}
  </Anchor>
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
            { title: 'Pools', isNumber: true, cell: ({ pools }) => pools ?? NONE },
            { title: 'Block', isNumber: true, cell: ({ height }) => height ?? NONE },
            { title: 'Read', cell: ({ readAt }) => <Age at={readAt} /> },
            { title: 'Stored', cell: ({ savedAt }) => <Age at={savedAt} /> },
            { title: 'Depth', cell: (row) => <ShowDepth {...row} /> },
            { title: 'Paused', cell: (row) => <Pauses {...row} /> },
            { title: 'List', cell: ({ network }) => <PoolsLink network={network} /> },
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
              title: 'Actions',
              cell: ({ scope, dex, paused }) => <PauseButton scope={scope} isPaused={paused} what={dex} />,
            },
          ]}
        />
      </Panel>
    </Stack>
  </>
)
