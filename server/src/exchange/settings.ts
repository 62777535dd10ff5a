import type { EvmParameters, FinalityTag } from '../core/domain/network.ts'

/** What the operator sets of the services' behaviour; every time in milliseconds, every dollar value scaled by 10^12. */
export type ServiceSettings = Readonly<{
  rateIdMs: number
  fixedLockMs: number
  expiryMs: number
  /** How long a pending transaction may wait before its fee is raised; at least this, and 20 blocks. */
  stuckMs: number
  limits: Readonly<{ perTransactionUsd: bigint; hourUsd: bigint; dayUsd: bigint }>
  /** Of private exchanges; absent: `privacyDefaults`. */
  privacy?: PrivacySettings
}>

/** The bounds in which each private exchange draws its own. They are published (docs/private-exchanges.md). */
export type PrivacySettings = Readonly<{
  /** The longest wait before a leg's payout. */
  delayMaxMs: number
  /** The most of the intermediary's amount that its chain is not shown, in millionths. */
  withheldMaxPpm: number
  /** The most by which a payout differs from the plain amount, in millionths, either way alike. Absent: none. */
  payoutMaxPpm?: number
  /** A leg that could not be paid for so long goes back. */
  stallMs: number
}>

export const privacyDefaults = {
  delayMaxMs: 600_000,
  withheldMaxPpm: 10_000,
  payoutMaxPpm: 0,
  stallMs: 21_600_000,
} as const satisfies PrivacySettings

/** Confirmations by value: the network's own up to $1 000, twice that up to $50 000, four times above; unpriced is above. */
export function requiredConfirmations(base: number, finalityBlocks: number, usd: bigint | null): number {
  const tier = usd === null ? 4 : usd <= 1_000n * USD ? 1 : usd <= 50_000n * USD ? 2 : 4
  return Math.min(base * tier, Math.max(finalityBlocks, base))
}

/**
 * The chain's own tag by value, where the network's file names tiers: on second layers confirmations are the word of one
 * sequencer, and what is worth more waits for the first layer. Unpriced is above every tier.
 */
export function requiredFinalityTag(
  evm: Pick<EvmParameters, 'safeAboveUsd' | 'finalizedAboveUsd'> | undefined,
  usd: bigint | null,
): FinalityTag | null {
  const isAbove = (tier: bigint | undefined) => tier !== undefined && (usd === null || usd > tier * USD)
  if (isAbove(evm?.finalizedAboveUsd)) return 'finalized'
  return isAbove(evm?.safeAboveUsd) ? 'safe' : null
}

export const USD = 10n ** 12n
