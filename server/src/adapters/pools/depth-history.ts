import type { PoolsDepth } from '../../swap/ports/pools.ts'

/** Depths of one hour, in wei. `hour`: hours since 1970. */
type HourlyMaximum = Readonly<{ hour: number; wei: number }>

/** The greatest depth of each of the last 24 hours, to notice that liquidity disappears. */
export type DepthHistory = Readonly<{
  record(wei: number, nowMs: number): void
  /** The greatest depth of the last 24 hours; 0 without any. */
  maximum(nowMs: number): number
  list(): readonly HourlyMaximum[]
  restore(hours: readonly HourlyMaximum[]): void
}>

const HOUR_MS = 3_600_000
const HOURS = 24

export function createDepthHistory(): DepthHistory {
  let hours: readonly HourlyMaximum[] = []
  const recent = (nowMs: number) => hours.filter(({ hour }) => hour > Math.floor(nowMs / HOUR_MS) - HOURS)
  return {
    record(wei, nowMs) {
      const hour = Math.floor(nowMs / HOUR_MS)
      const before = recent(nowMs).find((one) => one.hour === hour)?.wei ?? 0
      hours = [...recent(nowMs).filter((one) => one.hour !== hour), { hour, wei: Math.max(before, wei) }]
    },
    maximum: (nowMs) => recent(nowMs).reduce((most, { wei }) => Math.max(most, wei), 0),
    list: () => hours,
    restore(restored) {
      hours = restored
    },
  }
}

/** Records the present depth, and compares it with the last 24 hours. */
export function reportDepth(history: DepthHistory, units: number, nowMs: number): PoolsDepth {
  history.record(units, nowMs)
  return { units, maximumUnits: history.maximum(nowMs) }
}
