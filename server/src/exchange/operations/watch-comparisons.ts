import type { Store } from '../ports/store/store.ts'

/** Each network is compared once a minute. After this time without, its nodes or its wallet program do not answer. */
export const UNCOMPARED_MS = 600_000

type Dependencies = Readonly<{
  store: Pick<Store, 'reconciliation' | 'alarms'>
  networks: readonly string[]
  /** Of this process, in ms: a pause of all processes is no alarm, so each waits first. */
  startedAt?: number
}>

/** Raises an alarm per network whose wallets no process has compared with the ledger for `UNCOMPARED_MS`: a loss would not show. */
export function createWatchComparisons({ store, networks, startedAt = performance.now() }: Dependencies) {
  return async function watchComparisons(): Promise<void> {
    if (performance.now() - startedAt < UNCOMPARED_MS) return
    const uncompared = await store.reconciliation.listUncompared(networks, UNCOMPARED_MS)
    for (const { network, since } of uncompared)
      await store.alarms.raise(`uncompared:${network}`, 'the ledger is not compared with the wallets of a network', {
        network,
        since,
      })
    await store.alarms.clearOthers(
      'uncompared:',
      uncompared.map(({ network }) => network),
    )
  }
}
