import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'
import type { PoolsDepth } from '../ports/pools.ts'

/** Below this share of the most of the last 24 hours, in percent, the depth counts as shrunk. */
const SHARE_MIN = 50

/** Raises `pool-depth:<network>` while the pools of listed tokens are much less deep than within the last 24 hours. */
export function createDepthAlarm(alarms: Pick<AlarmStore, 'raise' | 'clear'>, log: Pick<Log, 'warn'>) {
  /** Networks whose alarm this process has cleared since it was last raised. */
  const cleared = new Set<string>()
  return async (network: string, { units, maximumUnits }: PoolsDepth): Promise<void> => {
    const subject = `pool-depth:${network}`
    try {
      if (units * 100 >= maximumUnits * SHARE_MIN) {
        if (cleared.has(network)) return
        await alarms.clear(subject)
        cleared.add(network)
        return
      }
      cleared.delete(network)
      const detail = { network, percent: Math.floor((units / maximumUnits) * 100) }
      await alarms.raise(subject, 'the pools of listed tokens have lost liquidity', detail)
    } catch (err) {
      // The next report comes within seconds.
      log.warn({ err, network }, 'the alarm of the pool depth could not be stored')
    }
  }
}
