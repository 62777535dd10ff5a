import { type DammPoolState, decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import { DAMM_ERROR } from '@swapyard/lib/pools/solana/meteora-damm-v2-error.ts'
import { activeRateLimiter } from '@swapyard/lib/pools/solana/meteora-damm-v2-fee.ts'
import type { MeteoraDammV2RoutePool } from '../../../swap/routing/pools/solana/meteora-damm-v2.ts'
import { readonly, signer, writable } from '../instructions.ts'
import { decodeAmounts, encodeCall, markFilter, type SolanaDex } from './solana-dex.ts'

const program = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'
/** Owns the vaults of all pools. */
const authority = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'
/** The program's address for the seed `__event_authority`. */
const eventAuthority = '3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet'
/** First 8 bytes of sha256("account:Pool") and sha256("global:swap2"). */
const POOL = Buffer.from('f19a6d0411b16dbc', 'hex')
const SWAP2 = Buffer.from('414b3f4ceb5b5b88', 'hex')
/** The mode of an exact input. */
const EXACT_IN = Buffer.from([0])
const SWAP2_BYTES = 25
const POOL_BYTES = 1_112

/* Offsets in the account of a pool, and the greatest values that the maths knows. */
const known = [
  [16, 4],
  [484, 2],
  [696, 1],
] as const
const LAYOUT_VERSION = 696
/** In this version the account has reserves, which a compounding pool trades on. */
const LAYOUT_WITH_RESERVES = 1

const isKnown = (data: Buffer): boolean => known.every(([offset, most]) => (data[offset] ?? 0) <= most)

/** Periods of the base fee's schedule that have passed, from 0; null where it has none. */
function findPeriod(
  { baseFee, activation }: DammPoolState,
  now: bigint,
): Readonly<{ at: bigint; last: bigint }> | null {
  const elapsed = now > activation.point ? now - activation.point : 0n
  if (baseFee.kind === 'time') {
    if (baseFee.frequency === 0n || baseFee.periods === 0n) return null
    const at = elapsed / baseFee.frequency
    return { at: at < baseFee.periods ? at : baseFee.periods, last: baseFee.periods }
  }
  if (baseFee.kind === 'marketCap') return { at: elapsed > baseFee.expiration ? 1n : 0n, last: 1n }
  return null
}

/**
 * Left out: fees that depend on the amount, whose swaps must show the program the whole transaction, and fees that still follow the slots,
 * because a state is read again when the time changes it.
 */
function isTradable(state: DammPoolState, unixTime: bigint, slot: bigint): boolean {
  const now = state.activation.isSlot ? slot : unixTime
  if (!state.isEnabled || now < state.activation.point || activeRateLimiter(state, false, now) !== null) return false
  const period = state.activation.isSlot ? findPeriod(state, slot) : null
  return state.liquidity > 0n && (period === null || period.at === period.last)
}

/** The volatility since the last swap: whole, reduced or none. */
function volatilityPhase({ dynamicFee, volatility }: DammPoolState, unixTime: bigint): number {
  const elapsed = unixTime - volatility.lastUpdate
  if (dynamicFee === null || elapsed < dynamicFee.filterPeriod) return 0
  return elapsed < dynamicFee.decayPeriod ? 1 : 2
}

export const meteoraDammV2Dex: SolanaDex<MeteoraDammV2RoutePool> = {
  kind: 'meteora-damm-v2',
  program,
  title: 'Meteora DAMM v2',
  filters: [{ dataSize: POOL_BYTES }, markFilter(POOL)],
  mintsAt: [168, 200],
  vaultsAt: [232, 264],
  accountsOf: () => [],
  read({ identity, data, balances, transferFees, unixTime, slot }) {
    if (!isKnown(data)) return null
    const state = decodeDammPool(data)
    const hasReserves = data[LAYOUT_VERSION] === LAYOUT_WITH_RESERVES
    if (!isTradable(state, unixTime, slot) || (state.feeMode === 'compounding' && !hasReserves)) return null
    return { ...identity, kind: 'meteora-damm-v2', state: { state, vaults: balances, transferFees }, unixTime, slot }
  },
  phaseOf(data, unixTime) {
    if (!isKnown(data)) return 0
    const state = decodeDammPool(data)
    const period = state.activation.isSlot ? null : findPeriod(state, unixTime)
    return 3 * Number(period?.at ?? 0n) + volatilityPhase(state, unixTime)
  },
  swap(pool, { owner, source, target, amountIn, minOut }) {
    const [a = '', b = ''] = pool.tokens
    return {
      program,
      accounts: [
        ...[readonly(authority), writable(pool.address), writable(source), writable(target)],
        ...[writable(pool.vaults[0]), writable(pool.vaults[1]), readonly(a), readonly(b), signer(owner)],
        // The third one stands for the account of a referral, who would get a part of the fee.
        ...[readonly(pool.programs[0]), readonly(pool.programs[1]), readonly(program)],
        ...[readonly(eventAuthority), readonly(program)],
      ],
      data: encodeCall(SWAP2, [amountIn, minOut], EXACT_IN),
    }
  },
  readSwap(instruction) {
    const amounts = decodeAmounts(instruction, SWAP2, SWAP2_BYTES)
    const at = (index: number) => instruction.accounts[index]?.address ?? ''
    const isExactIn = instruction.data[SWAP2_BYTES - 1] === EXACT_IN[0]
    return amounts && isExactIn ? { pool: at(1), source: at(2), target: at(3), ...amounts } : null
  },
  errors: {
    [DAMM_ERROR.poolDisabled]: 'the pool is not open for swaps',
    [DAMM_ERROR.priceRangeViolation]: 'the pool has no liquidity at the price',
  },
  belowMinimum: [DAMM_ERROR.exceededSlippage],
}
