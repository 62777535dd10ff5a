import { largest } from '../../lib/bigint.ts'
import { waitKinds } from '../payouts/hold-payouts.ts'
import { isImpliedByAll, limitOf } from '../payouts/outflow-limits.ts'
import type { Outflow, OutflowLimit } from '../ports/store/outflow.ts'
import type { Store } from '../ports/store/store.ts'
import type { ServiceSettings } from '../settings.ts'

const SCOPES_MAX = 10_000
/** An alarm begins at the first of these percentages of a limit, and says when the second is reached. */
const SHARES = [50n, 80n] as const

/** Raises an alarm while half of an outflow limit is used, before payouts have to wait; ends those about what payouts waited for. */
export function createWatchOutflow({ store, settings }: Readonly<{ store: Store; settings: ServiceSettings }>) {
  return async function watchOutflow(): Promise<void> {
    const used: string[] = []
    for (const outflow of await store.outflow.list(SCOPES_MAX)) {
      const { scope } = outflow
      if (isImpliedByAll(settings.limits, scope)) continue
      const percent = percentOf(outflow, limitOf(settings.limits, scope))
      const share = SHARES.findLast((one) => percent >= one)
      if (share === undefined) continue
      used.push(scope)
      await store.alarms.raise(`limit-used:${scope}`, `${share} % of an outflow limit is used`, {
        percent: percent.toString(),
      })
    }
    await store.alarms.clearOthers('limit-used:', used)
    await store.payouts.clearEndedWaits(waitKinds)
  }
}

/** Of the fuller of the two windows. */
const percentOf = (outflow: Outflow, { hour, day }: OutflowLimit): bigint =>
  largest((outflow.hour * 100n) / hour, (outflow.day * 100n) / day)
