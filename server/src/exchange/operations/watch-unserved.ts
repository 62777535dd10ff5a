import type { Store } from '../ports/store/store.ts'

/**
 * Raises an alarm per network that is not configured and has something open: it was removed too early. Its transactions are not
 * followed, and its exchanges are held.
 */
export function createWatchUnserved({
  store,
  networks,
}: Readonly<{ store: Pick<Store, 'reconciliation' | 'alarms'>; networks: readonly string[] }>) {
  return async function watchUnserved(): Promise<void> {
    const unserved = await store.reconciliation.listOpenElsewhere(networks)
    for (const { network, ...detail } of unserved)
      await store.alarms.raise(`unserved:${network}`, 'a network with open exchanges is not configured', detail)
    await store.alarms.clearOthers(
      'unserved:',
      unserved.map(({ network }) => network),
    )
  }
}
