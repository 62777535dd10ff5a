import { Anchor } from '@mantine/core'
import { Link, useSearchParams } from 'react-router'
import { PauseButton } from '../actions/pause-button.tsx'
import { useList } from '../api/reads.ts'
import { PageHeader } from '../app/page-header.tsx'
import { Hash, Status } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

const stateOf = (enabled: boolean, paused: boolean): string => {
  if (paused) return 'paused'
  return enabled ? 'enabled' : 'without a pool'
}

type PoolsProps = Readonly<{ network: string; address: string; symbol: string }>

const PoolsLink = ({ network, address, symbol }: PoolsProps) => (
  <Anchor
    component={Link}
    to={`/pools?${new URLSearchParams({ network, find: address })}`}
    underline="always"
    inherit
    aria-label={`Pools of ${symbol}`}
  >
    Pools
  </Anchor>
)

export function Page() {
  const [search] = useSearchParams()
  const { data: dexes } = useList('dexes')
  const names = [...new Set(dexes?.data.map(({ network }) => network))]
  const network = search.get('network') ?? names[0]
  return (
    <>
      <PageHeader title="Tokens of swaps" description="Tokens of a network, enabled ones first." />
      {network !== undefined && (
        <WholeList
          key={network}
          read="tokens"
          label="Tokens"
          rowKey={({ address }) => address}
          textOf={({ address, symbol, name }) => `${address} ${symbol} ${name}`}
          empty="No token of this network is known."
          filters={[{ name: 'network', label: 'Network', options: names, initial: network, isRequired: true }]}
          columns={[
            { title: 'Symbol', cell: ({ symbol }) => symbol },
            { title: 'Name', cell: ({ name }) => name },
            { title: 'Address', cell: ({ address }) => <Hash text={address} /> },
            { title: 'Decimals', isNumber: true, cell: ({ decimals }) => decimals },
            { title: 'State', cell: ({ enabled, paused }) => <Status value={stateOf(enabled, paused)} /> },
            { title: 'Pools', cell: (row) => <PoolsLink {...row} /> },
            {
              title: 'Actions',
              cell: ({ scope, symbol, paused }) => <PauseButton scope={scope} isPaused={paused} what={symbol} />,
            },
          ]}
        />
      )}
    </>
  )
}
