import { createRequire } from 'node:module'
import { largest, U64_MAX } from '@swapyard/lib/bigint.ts'
import { type DammPool, swapMeteoraDammV2 } from '@swapyard/lib/pools/solana/meteora-damm-v2.ts'
import { decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import { DAMM_ERROR } from '@swapyard/lib/pools/solana/meteora-damm-v2-error.ts'
import { netOf } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { magnitude } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { anchorAccounts } from './anchor-accounts.ts'
import { type Counter, createCounter, stringify } from './counter.ts'
import { loadDammV2, toBigint } from './packages.ts'
import { drawnTransferFee, MINT_TIME, mintOf, transferFeeOf } from './transfer-fees.ts'

/* Meteora DAMM v2: our swaps against the quotes of @meteora-ag/cp-amm-sdk, on the same account bytes. */

const damm = loadDammV2()
const { toBN } = damm
const { Connection } = createRequire(createRequire(import.meta.url).resolve('@meteora-ag/cp-amm-sdk'))(
  '@solana/web3.js',
) as { Connection: new (url: string) => never }
// The program's public interface. Nothing is sent to the address.
const { _program: program } = new damm.CpAmm(new Connection('http://127.0.0.1:1'))
const accounts = anchorAccounts(program.coder.accounts)
const POOL_BYTES = 1_112

const POOLS = 500
const TRADES = 5
const NOW = 1_900_000_000n
const ACTIVATION = 1_899_990_000n

const FEE_MODES = ['output', 'b', 'compounding'] as const
const bps = (min: number, max: number) => fc.integer({ min, max })

/** Rates are parts of 10^9; 1 basis point is 100,000 of them. */
const baseFee = fc.oneof(
  fc
    .record({
      cliffBps: bps(1, 5_000),
      periods: bps(0, 200),
      frequency: fc.bigInt(0n, 300n),
      share: fc.bigInt(0n, 100n),
    })
    .map(({ cliffBps, periods, frequency, share }) => ({
      kind: 'time' as const,
      ...{ cliff: BigInt(cliffBps) * 100_000n, periods, frequency },
      reductions: { linear: (BigInt(cliffBps) * 1_000n * share) / BigInt(periods + 1), exponential: share * 10n },
    })),
  fc
    .record({
      cliffBps: bps(1, 5_000),
      periods: bps(0, 200),
      stepBps: bps(1, 500),
      expiration: bps(0, 20_000),
      share: fc.bigInt(0n, 100n),
    })
    .map(({ cliffBps, periods, stepBps, expiration, share }) => ({
      kind: 'marketCap' as const,
      ...{ cliff: BigInt(cliffBps) * 100_000n, periods, stepBps, expiration },
      reductions: { linear: (BigInt(cliffBps) * 1_000n * share) / BigInt(periods + 1), exponential: share * 10n },
    })),
  fc
    .record({
      cliffBps: bps(1, 3_000),
      increment: bps(1, 300),
      rise: bps(0, 2_000),
      duration: bps(1, 20_000),
      reference: magnitude(3, 45),
    })
    .map(({ cliffBps, increment, rise, duration, reference }) => ({
      kind: 'rateLimiter' as const,
      ...{ cliff: BigInt(cliffBps) * 100_000n, increment, maxBps: cliffBps + rise, duration, reference },
    })),
)

const draws = fc.record({
  feeMode: fc.nat(2),
  baseFee,
  isExponential: fc.boolean(),
  feeVersion: fc.nat(1),
  isSlot: fc.boolean(),
  isDisabled: fc.nat(40).map((digit) => digit === 0),
  /** Of the activation; before it the program refuses. */
  elapsed: fc.oneof({ weight: 20, arbitrary: fc.bigInt(0n, 30_000n) }, { weight: 1, arbitrary: fc.bigInt(-10n, -1n) }),
  protocolShare: fc.constantFrom(0, 10, 20, 50),
  referralShare: fc.constantFrom(0, 20, 33),
  compoundingBps: fc.integer({ min: 0, max: 10_000 }),
  dynamicFee: fc.option(
    fc.record({
      accumulatorMax: fc.integer({ min: 100_000, max: 14_460_000 }),
      control: fc.constantFrom(0, 7_000, 60_000, 16_000_000),
      accumulator: fc.nat(14_000_000),
    }),
    { nil: null, freq: 2 },
  ),
  /** Natural logarithm of the price. */
  logPrice: fc.double({ min: -25, max: 25, noNaN: true }),
  /** Of the range's ends from the price; null = the whole range of prices. */
  range: fc.option(
    fc.tuple(fc.double({ min: 1e-6, max: 3, noNaN: true }), fc.double({ min: 1e-6, max: 3, noNaN: true })),
    { nil: null, freq: 2 },
  ),
  /** Of the initial price, from which the market cap schedulers count. */
  rise: fc.double({ min: -0.5, max: 3, noNaN: true }),
  liquidity: magnitude(15, 62),
  reserves: fc.tuple(magnitude(5, 62), magnitude(5, 62)),
  transferFees: fc.tuple(drawnTransferFee, drawnTransferFee),
  trades: fc.array(
    fc.record({
      aToB: fc.boolean(),
      kind: fc.constantFrom('exactIn' as const, 'partialFill' as const, 'exactOut' as const),
      hasReferral: fc.boolean(),
      size: fc.oneof(
        { weight: 5, arbitrary: magnitude(0, 22).map((share) => ({ share })) },
        { weight: 1, arbitrary: fc.bigInt(1n, 20n).map((units) => ({ units })) },
        { weight: 1, arbitrary: magnitude(40, 63).map((units) => ({ units })) },
        // About all that the range holds.
        { weight: 1, arbitrary: fc.bigInt(-2n, 2n).map((excess) => ({ excess })) },
      ),
    }),
    { minLength: TRADES, maxLength: TRADES },
  ),
})
type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never
type Trade = Draw['trades'][0]

const PRICE_MIN = 4_295_048_016n
const PRICE_MAX = 79_226_673_521_066_979_257_578_248_091n

const sqrtPriceOf = (logPrice: number) => BigInt(Math.round(Math.exp(logPrice / 2) * 2 ** 52)) << 12n
const within = (value: bigint, low: bigint, high: bigint) => (value < low ? low : value > high ? high : value)

function writeBaseFee({ baseFee: fee, isExponential }: Draw): number[] {
  const { types } = damm.cpAmmCoder
  const cliff_fee_numerator = toBN(fee.cliff)
  const padding = [0, 0, 0, 0, 0]
  if (fee.kind === 'rateLimiter')
    return [
      ...types.encode('PodAlignedFeeRateLimiter', {
        ...{ cliff_fee_numerator, base_fee_mode: 2, padding, fee_increment_bps: fee.increment },
        ...{ max_limiter_duration: fee.duration, max_fee_bps: fee.maxBps, reference_amount: toBN(fee.reference) },
      }),
    ]
  const reduction_factor = toBN(isExponential ? fee.reductions.exponential : fee.reductions.linear)
  if (fee.kind === 'time')
    return [
      ...types.encode('PodAlignedFeeTimeScheduler', {
        ...{ cliff_fee_numerator, base_fee_mode: isExponential ? 1 : 0, padding, number_of_period: fee.periods },
        ...{ period_frequency: toBN(fee.frequency), reduction_factor },
      }),
    ]
  return [
    ...types.encode('PodAlignedFeeMarketCapScheduler', {
      ...{ cliff_fee_numerator, base_fee_mode: isExponential ? 4 : 3, padding, number_of_period: fee.periods },
      ...{ sqrt_price_step_bps: fee.stepBps, scheduler_expiration_duration: fee.expiration, reduction_factor },
    }),
  ]
}

/** The account as the package reads it, and the pool as we read its bytes. */
function createPools(draw: Draw) {
  const sqrtPrice = within(sqrtPriceOf(draw.logPrice), PRICE_MIN, PRICE_MAX)
  const [below, above] = draw.range ?? [100, 100]
  const mode = FEE_MODES[draw.feeMode]
  const zero = accounts.zero('pool', POOL_BYTES)
  const dynamicFee = {
    ...({
      padding: [0, 0, 0, 0, 0, 0, 0],
      binStep: 1,
      filterPeriod: 10,
      decayPeriod: 120,
      reductionFactor: 5_000,
    } as const),
    ...{
      initialized: draw.dynamicFee === null ? 0 : 1,
      maxVolatilityAccumulator: draw.dynamicFee?.accumulatorMax ?? 0,
    },
    ...{ variableFeeControl: draw.dynamicFee?.control ?? 0, lastUpdateTimestamp: toBN(NOW - 60n) },
    ...{ binStepU128: toBN(1_844_674_407_370_955n), sqrtPriceReference: toBN(sqrtPrice) },
    ...{ volatilityAccumulator: toBN(draw.dynamicFee?.accumulator ?? 0), volatilityReference: toBN(0) },
  }
  const account = {
    ...zero,
    poolFees: {
      ...{ baseFee: { baseFeeInfo: { data: writeBaseFee(draw) }, padding1: toBN(0) }, dynamicFee },
      ...{
        protocolFeePercent: draw.protocolShare,
        referralFeePercent: draw.referralShare,
        padding0: 0,
        padding1: [0, 0, 0],
      },
      compoundingFeeBps: mode === 'compounding' ? draw.compoundingBps : 0,
      initSqrtPrice: toBN(within(sqrtPriceOf(draw.logPrice - draw.rise), PRICE_MIN, PRICE_MAX)),
    },
    ...{ liquidity: toBN(draw.liquidity << 64n), sqrtPrice: toBN(sqrtPrice) },
    sqrtMinPrice: toBN(within(sqrtPriceOf(draw.logPrice - below), PRICE_MIN, sqrtPrice)),
    sqrtMaxPrice: toBN(within(sqrtPriceOf(draw.logPrice + Math.min(above, 40)), sqrtPrice, PRICE_MAX)),
    ...{ activationPoint: toBN(ACTIVATION), activationType: draw.isSlot ? 0 : 1, poolStatus: draw.isDisabled ? 1 : 0 },
    ...{ collectFeeMode: draw.feeMode, feeVersion: draw.feeVersion },
    ...{ tokenAAmount: toBN(draw.reserves[0]), tokenBAmount: toBN(draw.reserves[1]) },
  }
  const [feeA, feeB] = draw.transferFees
  const ours: DammPool = {
    state: decodeDammPool(accounts.write('pool', account)),
    vaults: draw.reserves,
    transferFees: [transferFeeOf(feeA), transferFeeOf(feeB)],
  }
  return { ours, theirs: account as never as Parameters<typeof damm.swapQuoteExactInput>[0] }
}
type Pools = ReturnType<typeof createPools>

function amountOf({ ours: { state }, theirs }: Pools, { aToB, kind, size }: Trade): bigint {
  if ('units' in size) return size.units
  const isA = aToB === (kind !== 'exactOut')
  const virtual = isA ? state.liquidity / state.sqrtPrice : (state.liquidity * state.sqrtPrice) >> 128n
  const reserve = state.feeMode === 'compounding' ? state.reserves[isA ? 0 : 1] : virtual
  const handler = damm.getLiquidityHandler(theirs)
  const most =
    kind === 'exactOut'
      ? toBigint(handler.getReservesAmount()[isA ? 0 : 1])
      : toBigint(handler.getMaxAmountIn(aToB ? 0 : 1))
  const whole = reserve < most ? reserve : most
  return within('excess' in size ? most + size.excess : (whole * size.share) >> 21n, 1n, U64_MAX)
}

function quote({ theirs }: Pools, draw: Draw, { aToB, kind, hasReferral }: Trade, amount: bigint) {
  const [feeIn, feeOut] = aToB ? draw.transferFees : [draw.transferFees[1], draw.transferFees[0]]
  const tokenOf = (fee: Draw['transferFees'][0]) =>
    fee === null ? undefined : { mint: mintOf(fee) as never, currentEpoch: MINT_TIME }
  const quoteOf = {
    ...{ exactIn: damm.swapQuoteExactInput, partialFill: damm.swapQuotePartialInput },
    exactOut: damm.swapQuoteExactOutput,
  }[kind]
  const [point, units] = [toBN(ACTIVATION + draw.elapsed), toBN(amount)]
  try {
    return quoteOf(theirs, point, units, 0, aToB, hasReferral, 6, 6, tokenOf(feeIn), tokenOf(feeOut))
  } catch (error) {
    return { error: (error as Error).constructor.name, message: (error as Error).message }
  }
}

function swap({ ours }: Pools, draw: Draw, { aToB, kind, hasReferral }: Trade, amount: bigint) {
  const point = ACTIVATION + draw.elapsed
  return swapMeteoraDammV2(ours, {
    ...{ aToB, kind, amount, limit: kind === 'exactOut' ? U64_MAX : 0n, hasReferral, hasInstructions: true },
    ...(draw.isSlot ? { slot: point, unixTime: NOW } : { unixTime: point, slot: 1n }),
  })
}

/** Errors of the package by our codes. */
const ERRORS: Readonly<Record<number, readonly string[]>> = {
  [DAMM_ERROR.poolDisabled]: ['SwapDisabledError'],
  [DAMM_ERROR.priceRangeViolation]: ['PriceRangeViolationError'],
  // An output that exceeds 64 bits with its fee, or the fee of its token, exceeds the pool, too.
  [DAMM_ERROR.mathOverflow]: ['MathOverflowError', 'InsufficientLiquidityError', 'PriceRangeViolationError'],
  [DAMM_ERROR.typeCastFailed]: ['MathOverflowError', 'InsufficientLiquidityError', 'PriceRangeViolationError'],
}

/*
 * The package does not limit amounts to 64 bits, which the program does (6000, 6007). It quotes an input that is a transfer fee as a
 * whole (6006), and throws where a swap would pay nothing, which the program executes. The recorded swaps show all three.
 */
test('a swap of Meteora DAMM v2 pays what the package quotes', () => {
  const reached = createCounter()
  for (const draw of drawSamples(draws, POOLS)) {
    const pools = createPools(draw)
    for (const trade of draw.trades) {
      const amount = amountOf(pools, trade)
      const result = swap(pools, draw, trade, amount)
      const quoted = quote(pools, draw, trade, amount)
      const place = stringify({ draw, trade, amount, result, quoted })
      const [feeIn, feeOut] = trade.aToB
        ? pools.ours.transferFees
        : [pools.ours.transferFees[1], pools.ours.transferFees[0]]
      if (result.error !== null) {
        reached.add(`refused with ${result.error}`)
        if (result.error === DAMM_ERROR.amountIsZero) expect(netOf(amount, feeIn), place).toBe(0n)
        else if ('error' in quoted) expect(ERRORS[Number(result.error)], place).toContain(quoted.error)
        else {
          expect([DAMM_ERROR.typeCastFailed, DAMM_ERROR.mathOverflow], place).toContain(result.error)
          const { outputAmount, claimingFee, compoundingFee, protocolFee, referralFee } = quoted
          const grossOutput = [outputAmount, claimingFee, compoundingFee, protocolFee, referralFee].map(toBigint)
          const input = toBigint(quoted.maximumAmountIn ?? quoted.includedFeeInputAmount)
          const largestAmount = largest(
            input,
            grossOutput.reduce((sum, units) => sum + units),
          )
          expect(largestAmount, place).toBeGreaterThan(U64_MAX)
        }
      } else if ('error' in quoted) {
        expect([quoted.message, result.received], place).toEqual(['Amount out must be greater than 0', 0n])
        reached.add('nothing for a tiny input')
      } else {
        const { fees, next } = result
        const ours = {
          ...{ paid: netOf(result.paid, feeIn), received: result.received, sqrtPrice: next.state.sqrtPrice },
          fees: [fees.providers, fees.compounding, fees.protocol, fees.referral],
        }
        expect(ours, place).toEqual({
          ...{ paid: toBigint(quoted.includedFeeInputAmount), received: netOf(toBigint(quoted.outputAmount), feeOut) },
          sqrtPrice: toBigint(quoted.nextSqrtPrice),
          fees: [quoted.claimingFee, quoted.compoundingFee, quoted.protocolFee, quoted.referralFee].map(toBigint),
        })
        if (quoted.maximumAmountIn !== undefined) expect(result.paid, place).toBe(toBigint(quoted.maximumAmountIn))
        countStates(reached, pools, draw, { ...trade, amount }, result)
      }
    }
  }
  expect(reached.missing(REQUIRED)).toEqual([])
  expect(reached.counts()['swaps'], stringify(reached.counts())).toBeGreaterThan(POOLS * 2)
})

const KINDS = ['exactIn', 'partialFill', 'exactOut']
const REQUIRED = [
  ...[6000, 6003, 6006, 6015].map((code) => `refused with ${code}`),
  ...KINDS.flatMap((kind) =>
    FEE_MODES.flatMap((mode) => ['time', 'marketCap', 'rateLimiter'].map((fee) => `${kind}, fee ${mode}, ${fee}`)),
  ),
  ...KINDS.map((kind) => `${kind}, rate limiter above its reference`),
  ...['nothing for a tiny input', 'sells A', 'sells B', 'stops at the end of the range', 'referral', 'transfer fees'],
  ...['exponential', 'a rate limiter that ended', 'an expired scheduler', 'dynamic fee', 'a fee at its maximum'],
  ...['by slots', 'more than 2^55 units', 'fewer than 10 units'],
]

function countStates(
  reached: Counter,
  { ours: { state, transferFees } }: Pools,
  draw: Draw,
  { kind, amount, ...trade }: Trade & Readonly<{ amount: bigint }>,
  { paid, received, fees, next }: Extract<ReturnType<typeof swap>, { error: null }>,
): void {
  const { baseFee: fee } = draw
  const isLimiter = fee.kind === 'rateLimiter' && !trade.aToB
  const isOn = isLimiter && draw.elapsed <= BigInt(fee.duration)
  const end = trade.aToB ? state.sqrtPriceMin : state.sqrtPriceMax
  const total = fees.providers + fees.compounding + fees.protocol + fees.referral
  const states: Readonly<Record<string, boolean>> = {
    swaps: true,
    [trade.aToB ? 'sells A' : 'sells B']: true,
    [`${kind}, fee ${state.feeMode}, ${fee.kind}`]: true,
    [`${kind}, rate limiter above its reference`]: isOn && paid > fee.reference,
    'a rate limiter that ended': isLimiter && !isOn,
    'stops at the end of the range': kind === 'partialFill' && paid < amount && next.state.sqrtPrice === end,
    referral: fees.referral > 0n,
    'transfer fees': transferFees.some((config) => config !== null && config.basisPoints > 0n),
    exponential: fee.kind !== 'rateLimiter' && draw.isExponential && total > 0n,
    'an expired scheduler': fee.kind === 'marketCap' && draw.elapsed > BigInt(fee.expiration),
    'dynamic fee': draw.dynamicFee !== null && draw.dynamicFee.accumulator > 0 && total > 0n,
    // The rate of a large input with a fee in the input.
    'a fee at its maximum':
      !trade.aToB &&
      state.feeMode !== 'output' &&
      paid > 1n << 14n &&
      (total * 1_000n) / paid === state.feeRateMax / 1_000_000n,
    'by slots': state.activation.isSlot,
    'more than 2^55 units': paid > 1n << 55n || received > 1n << 55n,
    'fewer than 10 units': paid < 10n || received < 10n,
  }
  for (const [name, isReached] of Object.entries(states)) if (isReached) reached.add(name)
}
