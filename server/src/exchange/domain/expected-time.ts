import type { Network } from '../../core/domain/network.ts'

/** Average seconds until a transaction has its confirmations: one block that includes it, and the following ones. */
export function secondsOf({ blockTimeMs }: Pick<Network, 'blockTimeMs'>, confirmations: number): number {
  return Math.ceil((blockTimeMs * (confirmations + 1)) / 1_000)
}

/** A private exchange has two random delays, each half of the maximum on average. */
export function privateDelaySeconds(delayMaxMs: number): number {
  return Math.ceil(delayMaxMs / 1_000)
}
