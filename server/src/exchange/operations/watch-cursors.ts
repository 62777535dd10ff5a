import type { Store } from '../ports/store/store.ts'

/** A watcher records every block within seconds; after this time without, it is stuck or its nodes fail. */
export const STALLED_MS = 300_000

/**
 * Raises an alarm per network whose blocks have not been recorded up to the head for `STALLED_MS`: one block that no node
 * returns whole, nodes that do not answer, or a watcher that is too slow. Deposits are not credited meanwhile.
 */
export function createWatchCursors({
  store,
  networks,
}: Readonly<{ store: Pick<Store, 'reconciliation' | 'alarms'>; networks: readonly string[] }>) {
  return async function watchCursors(): Promise<void> {
    const stalled = await store.reconciliation.listStalled(networks, STALLED_MS)
    for (const { network, ...detail } of stalled)
      await store.alarms.raise(`stalled:${network}`, 'new blocks of a network are not recorded', detail)
    await store.alarms.clearOthers(
      'stalled:',
      stalled.map(({ network }) => network),
    )
  }
}
