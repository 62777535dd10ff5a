import pg from 'pg'
import { inject } from 'vitest'
import { type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'

/** Others may trade there before. */
export const LOCK_MS = 400_000

/**
 * Waits until nobody else trades in a network's pools, for tests that compare amounts to the unit. Files of one run share
 * the chains; the lock is the cluster's, and goes with its connection.
 */
export async function lockMarket(clusterUrl: string, network: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: clusterUrl })
  await client.connect()
  await client.query('select pg_advisory_lock(hashtext($1))', [`market of ${network}`])
  return () => client.end()
}

/**
 * A scenario that has a network to itself until it is stopped, among those that reorganise it deeply: what others paid there
 * may be dropped by that.
 */
export async function startScenarioAloneOn(network: string, options: ScenarioOptions): Promise<Scenario> {
  const unlock = await lockMarket(inject('databaseUrl'), network)
  const scenario = await startScenario(options)
  return {
    ...scenario,
    stop: async () => {
      await scenario.stop()
      await unlock()
    },
  }
}
