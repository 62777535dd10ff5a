import type { Store } from '../ports/store/store.ts'

/**
 * Raises an alarm per asset if more of it is promised at fixed rates and owed than we hold. A reserve is checked when it is
 * promised; network fees, a loss, or a fault of ours can shrink it afterwards (M12).
 */
export function createWatchPromises({ store }: Readonly<{ store: Pick<Store, 'inventory' | 'alarms'> }>) {
  return async function watchPromises(): Promise<void> {
    const overpromised = await store.inventory.listOverpromised()
    for (const { assetId, missingUnits } of overpromised)
      await store.alarms.raise(`overpromised:${assetId}`, 'more is promised and owed than the wallets hold', {
        missing: missingUnits.toString(),
      })
    await store.alarms.clearOthers(
      'overpromised:',
      overpromised.map(({ assetId }) => assetId),
    )
  }
}
