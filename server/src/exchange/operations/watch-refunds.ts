import type { Store } from '../ports/store/store.ts'

const LISTED_MAX = 10_000

/**
 * Raises one alarm per partner whose refunds wait for an address: anyone can send any number of deposits that must be refunded. The
 * partner may never look at them, because an exchange that closed before stays closed.
 */
export function createWatchRefunds({ store }: Readonly<{ store: Pick<Store, 'operator' | 'alarms'> }>) {
  return async function watchRefunds(): Promise<void> {
    const waiting = await store.operator.listAwaitingRefunds(LISTED_MAX)
    for (const { partner, ...detail } of waiting)
      await store.alarms.raise(`refunds:${partner}`, 'refunds wait for an address', detail)
    await store.alarms.clearOthers(
      'refunds:',
      waiting.map(({ partner }) => partner),
    )
  }
}
