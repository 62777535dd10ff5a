import { Group, Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { useSearchParams } from 'react-router'
import { PauseButton } from '../actions/pause-button.tsx'
import { useList } from '../api/reads.ts'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Amount, Hash, NONE } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Row = AdminRow<'networkPools'>
/** As server/src/admin/reads/pool-reads.ts writes it. */
type Token = Readonly<{ address: string; symbol: string | null }>

const Tokens = ({ tokens }: Row) => (
  <Stack gap={2}>
    {(tokens as readonly Token[]).map(({ address, symbol }) => (
      <Group key={address} gap={6} wrap="nowrap">
        <Text size="sm">{symbol ?? 'unlisted'}</Text>
        <Hash text={address} />
      </Group>
    ))}
  </Stack>
)

/** A pool is also paused by its DEX or a token; each pause ends on its own. */
function Pause({ id, scope, pausedBy }: Row) {
  const scopes = pausedBy.map(String)
  return (
    <Stack gap={6} align="flex-start">
      {scopes.map((one) => (
        <Stack key={one} gap={2} align="flex-start">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {one}
          </Text>
          <PauseButton scope={one} isPaused />
        </Stack>
      ))}
      {!scopes.includes(scope) && <PauseButton scope={scope} isPaused={false} what={`pool ${shorten(id)}`} />}
    </Stack>
  )
}

const shorten = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

export function Page() {
  const [search] = useSearchParams()
  const { data: states } = useList('pools')
  const names = states?.data.flatMap(({ network, pools }) => (pools === null ? [] : [network]))
  const network = search.get('network') ?? names?.[0]
  return (
    <>
      <PageHeader title="Pools" description="Pools that the router follows, the deepest first." />
      {states === undefined && <Loading />}
      {states !== undefined && network === undefined && (
        <Text>This process follows the pools of no network, or has not read them yet.</Text>
      )}
      {network !== undefined && (
        <DataList
          key={network}
          read="networkPools"
          label="Pools"
          isPaged
          rowKey={({ id }) => id}
          empty="No pool matches."
          filters={[
            {
              name: 'network',
              label: 'Network',
              options: [...new Set([network, ...(names ?? [])])],
              initial: network,
              isRequired: true,
            },
            { name: 'find', label: 'Id, DEX, token or symbol', width: 320 },
          ]}
          columns={[
            { title: 'Pool', cell: ({ id }) => <Hash text={id} /> },
            { title: 'DEX', cell: ({ dex }) => dex },
            { title: 'Tokens', cell: (row) => <Tokens {...row} /> },
            {
              title: 'Usable liquidity',
              isNumber: true,
              cell: ({ depthUsd }) => (depthUsd === null ? NONE : <Amount value={String(depthUsd)} currency="USD" />),
            },
            { title: 'Pause', cell: (row) => <Pause {...row} /> },
          ]}
        />
      )}
    </>
  )
}
