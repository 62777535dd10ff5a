import pg from 'pg'

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
