/** What the operator sets of the services' behaviour; every time in milliseconds, every dollar value scaled by 10^12. */
export type ServiceSettings = Readonly<{
  rateIdMs: number
  fixedLockMs: number
  expiryMs: number
  /** How long a pending transaction may wait before its fee is raised; at least this, and 20 blocks. */
  stuckMs: number
  limits: Readonly<{ perTransactionUsd: bigint; hourUsd: bigint; dayUsd: bigint }>
}>

/** Confirmations by value: the network's own up to $1 000, twice that up to $50 000, four times above; unpriced is above. */
export function requiredConfirmations(base: number, finalityBlocks: number, usd: bigint | null): number {
  const tier = usd === null ? 4 : usd <= 1_000n * USD ? 1 : usd <= 50_000n * USD ? 2 : 4
  return Math.min(base * tier, Math.max(finalityBlocks, base))
}

export const USD = 10n ** 12n
