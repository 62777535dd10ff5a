import type { Throttle } from '../../../src/core/ports/throttle.ts'

/** A throttle whose minute never ends, with the limits that it was asked about. */
export function createCountingThrottle(): { throttle: Throttle; limits: Map<string, number> } {
  const spent = new Map<string, number>()
  const limits = new Map<string, number>()
  const throttle: Throttle = {
    take: (key, cost, limit) => {
      const before = spent.get(key) ?? 0
      const allowed = before + cost <= limit
      if (allowed) spent.set(key, before + cost)
      limits.set(key, limit)
      return { allowed, limit, remaining: Math.max(0, limit - (spent.get(key) ?? 0)), resetSeconds: 9 }
    },
  }
  return { throttle, limits }
}
