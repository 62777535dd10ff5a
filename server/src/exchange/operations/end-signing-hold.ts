import type { Pause } from '../../core/ports/store/pauses.ts'
import type { StoreTx } from '../ports/store/store.ts'
import { HOLD_ACTOR, HOLD_ALARMS, HOLD_REASON, PAYOUTS_PAUSE } from './compare-signing-journal.ts'

type HoldStores = Pick<StoreTx, 'alarms' | 'pauses'>

/** A pause that still stops payouts, and what to do about it. */
type Remaining = Readonly<{ scope: string; reason: string; next: string }>

/**
 * Ends the pause that the comparison with the signing journals set, and its alarms. Pauses that were set for other reasons, by the
 * check of the ledger or by an operator, stay. `remaining`: all pauses that still stop payouts.
 */
export async function endSigningHold({
  alarms,
  pauses,
}: HoldStores): Promise<Readonly<{ ended: Pause | null; remaining: readonly Remaining[] }>> {
  const ended = await pauses.resume(PAYOUTS_PAUSE, HOLD_ACTOR)
  await alarms.clear(...HOLD_ALARMS)
  const remaining = (await pauses.list())
    .filter(({ scope }) => scope === 'all' || /^(payouts|network):/.test(scope))
    .map(({ scope, reason }) => ({
      scope,
      reason,
      next: `settle its cause (swapyard alarms), then swapyard resume ${scope}`,
    }))
  return { ended, remaining }
}

/**
 * Keeps all payouts paused in a transaction that has ended their pause, if the signing journals hold them, too. Else a worker would
 * sign until the next comparison. Returns whether they do.
 */
export async function keepSigningHold({ alarms, pauses }: HoldStores): Promise<boolean> {
  for (const subject of HOLD_ALARMS)
    if ((await alarms.find(subject)) !== null) {
      await pauses.pause(PAYOUTS_PAUSE, HOLD_REASON, HOLD_ACTOR)
      return true
    }
  return false
}
