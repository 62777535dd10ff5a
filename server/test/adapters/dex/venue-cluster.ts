import { networks } from '../../../networks/index.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import type { NetworkPoolsOptions } from '../../../src/adapters/dex/sync-context.ts'
import { createPoolSnapshots } from '../../../src/adapters/postgres/swap/pool-snapshots.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import { openTestDatabase, type TestDatabase } from '../postgres/database.ts'
import { startVenues, type Venues } from './venues.ts'

const definition = networks.find(({ id }) => id === 'eth')
const log = createLog({ level: 'warn', pretty: true })

/** Uniswap's contracts, a snapshot database, and a factory of pool sources for both. */
export type VenueCluster = Readonly<{
  venues: Venues
  testDatabase: TestDatabase
  dexNetwork: NetworkPoolsOptions['dexNetwork']
  createSource(overrides?: Partial<NetworkPoolsOptions>): PoolSource
  stop(): Promise<void>
}>

export async function startVenueCluster(): Promise<VenueCluster> {
  if (!definition) throw new Error('unknown network')
  const network = resolveNetwork(definition, 'sandbox')
  const [venues, testDatabase] = await Promise.all([startVenues(), openTestDatabase(2)])
  const { anvil, address, tokens, dexes } = venues
  const dexNetwork = { network: 'eth', wrapped: address.weth, connectors: tokens, dexes }
  return {
    venues,
    testDatabase,
    dexNetwork,
    createSource: (overrides) =>
      createNetworkPools({
        ...{ network, rpcUrls: [anvil.url], dexNetwork, tokens: [], log },
        snapshots: createPoolSnapshots(testDatabase.database),
        ...overrides,
      }),
    stop: async () => {
      await anvil.stop()
      await testDatabase.close()
    },
  }
}
