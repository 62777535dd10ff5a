/* Swaps of Meteora DAMM v2 pools, equal to the program (main net of March 2026), as the recorded swaps show it. */
import { divideUp, U64_MAX } from '../../bigint.ts'
import { addAt, type TokenPair } from '../token-pair.ts'
import type { DammPoolState } from './meteora-damm-v2-accounts.ts'
import { type DammStep, dammInput, dammOutput, dammSqrtPriceOf } from './meteora-damm-v2-curve.ts'
import { DAMM_ERROR } from './meteora-damm-v2-error.ts'
import {
  activeRateLimiter,
  type DammFeeBase,
  decayDammVolatility,
  findDammFeeRate,
  updateDammVolatility,
} from './meteora-damm-v2-fee.ts'
import { addFee, FEE_PRECISION } from './meteora-maths.ts'
import { catchRefusal, type RefusalCode, refuseUnless } from './swap-refusal.ts'
import { grossOf, netOf, type TransferFeeConfig } from './transfer-fee.ts'

export type DammPool = Readonly<{
  state: DammPoolState
  /** Balances of the vaults of A and B, in base units. */
  vaults: readonly [bigint, bigint]
  /** Token-2022 transfer fees of A and B. */
  transferFees: readonly [TransferFeeConfig | null, TransferFeeConfig | null]
}>

export type DammSwap = Readonly<{
  aToB: boolean
  /** A partial swap stops at the end of the price range and takes only the used part of the input. */
  kind: 'exactIn' | 'partialFill' | 'exactOut'
  /** Base units with the transfer fee of the input, or without that of the output. */
  amount: bigint
  /** The least output, or the greatest input of an exact output. */
  limit: bigint
  /** Unix seconds. */
  unixTime: bigint
  slot: bigint
  hasReferral: boolean
  /** Whether the instruction has the account of the transaction's instructions, which a rate limiter needs. */
  hasInstructions: boolean
}>

/** Base units of the token in which the fee is taken. */
export type DammFees = Readonly<{ providers: bigint; compounding: bigint; protocol: bigint; referral: bigint }>

/** Base units: what the trader pays and gets, transfer fees included; or the program's error. */
export type DammResult =
  | Readonly<{ error: null; paid: bigint; received: bigint; fees: DammFees; next: DammPool }>
  | Readonly<{ error: RefusalCode }>

/** Base units without transfer fees: `amountIn` with a fee in the input, `amountOut` without a fee in the output. */
type Trade = Readonly<{ amountIn: bigint; amountOut: bigint; fee: bigint; step: DammStep }>

/** Applies one swap. Inputs and fees are rounded up, outputs and shares of fees down. */
export const swapMeteoraDammV2 = (pool: DammPool, swap: DammSwap): DammResult =>
  catchRefusal(() => applySwap(pool, swap))

function applySwap(pool: DammPool, swap: DammSwap): DammResult {
  const { aToB, kind, amount, limit } = swap
  const [feeIn, feeOut] = aToB ? pool.transferFees : [pool.transferFees[1], pool.transferFees[0]]
  const now = pool.state.activation.isSlot ? swap.slot : swap.unixTime
  refuseUnless(pool.state.isEnabled && now >= pool.state.activation.point, DAMM_ERROR.poolDisabled)
  const mustSeeInstructions = activeRateLimiter(pool.state, aToB, now) !== null
  refuseUnless(swap.hasInstructions || !mustSeeInstructions, DAMM_ERROR.failToValidateSingleSwapInstruction)
  const net = kind === 'exactOut' ? addTransferFee(amount, feeOut) : netOf(amount, feeIn)
  refuseUnless(net > 0n, DAMM_ERROR.amountIsZero)
  const state = { ...pool.state, volatility: decayDammVolatility(pool.state, swap.unixTime) }
  const trade = kind === 'exactOut' ? buyOutput(state, aToB, now, net) : sellInput(state, swap, now, net)
  const isWhole = kind !== 'exactOut' && trade.amountIn === net
  const paid = isWhole ? amount : addTransferFee(trade.amountIn, feeIn)
  const received = netOf(trade.amountOut, feeOut)
  refuseUnless(kind === 'exactOut' ? paid <= limit : received >= limit, DAMM_ERROR.exceededSlippage)
  const fees = splitFee(state, trade.fee, swap.hasReferral)
  const isFeeInA = state.feeMode === 'output' && !aToB
  const vaults = updateVaults(pool.vaults, { aToB, isFeeInA }, [netOf(paid, feeIn), trade.amountOut], fees.referral)
  const next = updateState(state, { aToB, isFeeInA, unixTime: swap.unixTime }, trade.step, fees)
  return { error: null, paid, received, fees, next: { ...pool, state: next, vaults } }
}

const isFeeInInput = ({ feeMode }: DammPoolState, aToB: boolean): boolean => feeMode !== 'output' && !aToB

function sellInput(state: DammPoolState, { aToB, kind }: DammSwap, now: bigint, net: bigint): Trade {
  const rateOf = (base: DammFeeBase) => findDammFeeRate(state, { aToB, now, base })
  const rate = rateOf({ amount: net })
  const feeOf = (units: bigint) => divideUp(units * rate, FEE_PRECISION)
  const isInput = isFeeInInput(state, aToB)
  const available = isInput ? net - feeOf(net) : net
  const step = dammOutput(state, aToB, available, kind === 'partialFill')
  if (!isInput) {
    const fee = feeOf(step.amountOut)
    return { amountIn: step.amountIn, amountOut: step.amountOut - fee, fee, step }
  }
  const amountIn = step.amountIn < available ? addCheckedFee(step.amountIn, rateOf({ net: step.amountIn })) : net
  return { amountIn, amountOut: step.amountOut, fee: amountIn - step.amountIn, step }
}

function buyOutput(state: DammPoolState, aToB: boolean, now: bigint, amountOut: bigint): Trade {
  const rateOf = (net: bigint) => findDammFeeRate(state, { aToB, now, base: { net } })
  if (!isFeeInInput(state, aToB)) {
    const gross = addCheckedFee(amountOut, rateOf(amountOut))
    const step = dammInput(state, aToB, gross)
    return { amountIn: step.amountIn, amountOut, fee: gross - amountOut, step }
  }
  const step = dammInput(state, aToB, amountOut)
  const amountIn = addCheckedFee(step.amountIn, rateOf(step.amountIn))
  return { amountIn, amountOut, fee: amountIn - step.amountIn, step }
}

/** The units that leave `net` after the fee, at most what the program can count. */
function addCheckedFee(net: bigint, rate: bigint): bigint {
  const amount = addFee(net, rate)
  refuseUnless(amount <= U64_MAX, DAMM_ERROR.typeCastFailed)
  return amount
}

/** The units to send so that `net` arrives, at most what a token account can hold. */
function addTransferFee(net: bigint, config: TransferFeeConfig | null): bigint {
  const total = grossOf(net, config)
  refuseUnless(total <= U64_MAX, DAMM_ERROR.mathOverflow)
  return total
}

function splitFee(state: DammPoolState, fee: bigint, hasReferral: boolean): DammFees {
  const forProtocol = (fee * state.protocolShare) / 100n
  const referral = hasReferral ? (forProtocol * state.referralShare) / 100n : 0n
  const forProviders = fee - forProtocol
  const compounding = state.feeMode === 'compounding' ? (forProviders * state.compoundingBps) / 10_000n : 0n
  return { providers: forProviders - compounding, compounding, protocol: forProtocol - referral, referral }
}

const addTo = (pair: TokenPair, units: bigint, isA: boolean): TokenPair => addAt(pair, isA ? 0 : 1, units)

/** The referral's fee leaves the vault of the fee's token. */
function updateVaults(
  vaults: readonly [bigint, bigint],
  { aToB, isFeeInA }: Readonly<{ aToB: boolean; isFeeInA: boolean }>,
  [amountIn, amountOut]: readonly [bigint, bigint],
  referral: bigint,
): readonly [bigint, bigint] {
  return addTo(addTo(addTo(vaults, amountIn, aToB), -amountOut, !aToB), -referral, isFeeInA)
}

function updateState(
  state: DammPoolState,
  { aToB, isFeeInA, unixTime }: Readonly<{ aToB: boolean; isFeeInA: boolean; unixTime: bigint }>,
  step: DammStep,
  fees: DammFees,
): DammPoolState {
  const traded = addTo(addTo(state.reserves, step.amountIn, aToB), -step.amountOut, !aToB)
  const reserves = addTo(traded, fees.compounding, isFeeInA)
  const sqrtPrice = step.sqrtPrice ?? dammSqrtPriceOf(reserves)
  return {
    ...state,
    sqrtPrice,
    reserves,
    volatility: updateDammVolatility(state, state.volatility, sqrtPrice, unixTime),
    protocolFees: addTo(state.protocolFees, fees.protocol, isFeeInA),
    lpFees: addTo(state.lpFees, fees.providers + fees.compounding, isFeeInA),
    feeGrowth: addTo(state.feeGrowth, (fees.providers << 128n) / state.liquidity, isFeeInA),
  }
}
