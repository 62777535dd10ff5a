import pg from 'pg'
import { inject } from 'vitest'
import { PATIENCE_MS } from './patience.ts'
import { type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'

/** Timeout of a hook that waits for the lock: other test files may hold it first. */
export const LOCK_MS = 4 * PATIENCE_MS

/**
 * Waits until no other test trades in a network's pools, for tests that compare exact amounts. The test files of a run share
 * the chains. The lock is an advisory lock of the database cluster; the returned function releases it.
 */
export async function lockMarket(clusterUrl: string, network: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: clusterUrl })
  await client.connect()
  await client.query('select pg_advisory_lock(hashtext($1))', [`market of ${network}`])
  return () => client.end()
}

/**
 * Starts a scenario with a lock on the network until it stops, for tests that reorganise the chain: a reorganisation
 * may drop the payments of other tests.
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
