import { createHash } from 'node:crypto'
import { divideUp } from '../../bigint.ts'

/** Fee rates in basis points of the quote amount. */
export type PumpSwapFees = Readonly<{ lp: bigint; protocol: bigint; coinCreator: bigint }>

/** The global config of PumpSwap and the fee config of pump's fee program. */
export type PumpSwapConfig = Readonly<{
  /** Bit 3 disables buys, bit 4 sells. */
  disableFlags: number
  /** Share of the protocol fee that goes to the buyback recipient. */
  buybackBps: bigint
  /** Of pools that the pump program did not create. */
  flatFees: PumpSwapFees
  /** By market cap in base units of the quote token, ascending. */
  tiers: readonly Readonly<{ threshold: bigint; fees: PumpSwapFees }>[]
}>

/** One pool of PumpSwap. Amounts are base units of the base token and of the quote token. */
export type PumpSwapPool = Readonly<{
  baseReserve: bigint
  quoteReserve: bigint
  /** Supply of the base mint. */
  baseSupply: bigint
  /** Whether the pump program created the pool: its fees depend on the market cap. */
  isCanonical: boolean
  hasCoinCreator: boolean
  /** The trader's volume accumulator gets the coin creator's fee. */
  isCashbackCoin: boolean
  config: PumpSwapConfig
}>

export type PumpSwapTrade =
  | Readonly<{ kind: 'buy'; baseOut: bigint; quoteInMax: bigint }>
  | Readonly<{ kind: 'sell'; baseIn: bigint; quoteOutMin: bigint }>
  /** The program spends all of `quoteIn`. */
  | Readonly<{ kind: 'buyExactQuoteIn'; quoteIn: bigint; baseOutMin: bigint }>

/** Base units of the quote token that leave the pool at once, by recipient. */
export type PumpSwapPayouts = Readonly<{ protocol: bigint; buyback: bigint; coinCreator: bigint; cashback: bigint }>

/** `paid` leaves the trader and `received` reaches the trader, in base units. */
export type PumpSwapResult =
  | Readonly<{ error: number }>
  | Readonly<{ error: null; paid: bigint; received: bigint; payouts: PumpSwapPayouts; next: PumpSwapPool }>

const BASIS_POINTS = 10_000n
const BUY_DISABLED = 1 << 3
const SELL_DISABLED = 1 << 4

const ZERO_AMOUNT = 6001
const EXCEEDED_SLIPPAGE = 6004
const EXCEEDS_RESERVE = 6016
const DIVISION_BY_ZERO = 6025
const CANNOT_COVER_FEES = 6039
const TOO_LITTLE_BASE = 6040
const WRONG_BUYBACK_RECIPIENT = 6053
/* The recorded trades do not show these; they follow the error list in the public interface of the program. */
const BUY_IS_DISABLED = 6020
const SELL_IS_DISABLED = 6021
const OVERFLOW = 6023

/** 6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P */
const PUMP_PROGRAM = Buffer.from('0156e0f693665acf44db1568bf175baa5189cb97f5d2ff3b655d2bb6fd6d18b0', 'hex')

/**
 * Decodes a Pool account. Its data ends with the coin creator and two flags, which older and shorter accounts do not have. The balances
 * and the supply are in other accounts.
 */
export function decodePumpSwapPool(
  data: Buffer,
  config: PumpSwapConfig,
  balances: Readonly<Pick<PumpSwapPool, 'baseReserve' | 'quoteReserve' | 'baseSupply'>>,
): PumpSwapPool {
  return {
    ...balances,
    isCanonical: isPoolAuthority(data.subarray(11, 43), data.subarray(43, 75)),
    hasCoinCreator: data.subarray(211, 243).some((byte) => byte !== 0),
    isCashbackCoin: data[244] === 1,
    config,
  }
}

/**
 * Whether the creator is the pump program's authority for the mint: an address derived from the mint and one byte. The program knows
 * the byte; the pool's account does not have it.
 */
function isPoolAuthority(creator: Buffer, mint: Buffer): boolean {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const derived = createHash('sha256')
      .update(Buffer.concat([Buffer.from('pool-authority'), mint, Buffer.from([bump]), PUMP_PROGRAM]))
      .update('ProgramDerivedAddress')
      .digest()
    if (derived.equals(creator)) return true
  }
  return false
}

/**
 * buy, sell and buy_exact_quote_in of PumpSwap (main net of June 2026, before boosts and virtual quote reserves). Inputs and each fee are
 * rounded up, outputs and the buyback's share of the protocol fee down. The pool keeps the LP fee. A refused trade has the program's code.
 */
export function tradePumpSwap(pool: PumpSwapPool, trade: PumpSwapTrade): PumpSwapResult {
  const isSell = trade.kind === 'sell'
  if ((pool.config.disableFlags & (isSell ? SELL_DISABLED : BUY_DISABLED)) !== 0)
    return { error: isSell ? SELL_IS_DISABLED : BUY_IS_DISABLED }
  const rates = findPumpSwapFees(pool)
  if (trade.kind === 'buy') return buy(pool, trade, rates)
  return trade.kind === 'sell' ? sell(pool, trade, rates) : buyExactQuoteIn(pool, trade, rates)
}

/** The fee rates at the market cap of the reserves before the trade. */
export function findPumpSwapFees(pool: PumpSwapPool): PumpSwapFees {
  const { flatFees, tiers } = pool.config
  // Rounds down.
  const marketCap = pool.baseReserve === 0n ? 0n : (pool.quoteReserve * pool.baseSupply) / pool.baseReserve
  const tier = pool.isCanonical ? (tiers.findLast(({ threshold }) => threshold <= marketCap) ?? tiers[0]) : undefined
  const fees = tier?.fees ?? flatFees
  return pool.hasCoinCreator ? fees : { ...fees, coinCreator: 0n }
}

function buy(pool: PumpSwapPool, trade: Extract<PumpSwapTrade, { kind: 'buy' }>, rates: PumpSwapFees): PumpSwapResult {
  const { baseOut, quoteInMax } = trade
  if (baseOut === 0n) return { error: ZERO_AMOUNT }
  if (baseOut > pool.baseReserve) return { error: EXCEEDS_RESERVE }
  if (baseOut === pool.baseReserve) return { error: DIVISION_BY_ZERO }
  const quote = divideUp(pool.quoteReserve * baseOut, pool.baseReserve - baseOut)
  const fees = feesOf(quote, rates)
  const paid = quote + sumOf(fees)
  if (paid > quoteInMax) return { error: EXCEEDED_SLIPPAGE }
  return settle(pool, fees, { paid, received: baseOut, base: -baseOut, quote: quote + fees.lp })
}

function sell(
  pool: PumpSwapPool,
  trade: Extract<PumpSwapTrade, { kind: 'sell' }>,
  rates: PumpSwapFees,
): PumpSwapResult {
  const { baseIn, quoteOutMin } = trade
  if (baseIn === 0n) return { error: ZERO_AMOUNT }
  const quote = (pool.quoteReserve * baseIn) / (pool.baseReserve + baseIn)
  const fees = feesOf(quote, rates)
  const received = quote - sumOf(fees)
  if (received < 0n) return { error: OVERFLOW }
  if (received < quoteOutMin) return { error: EXCEEDED_SLIPPAGE }
  // Without a fee for the coin creator the program takes the account before the buyback recipient for the recipient.
  if (pool.hasCoinCreator && fees.coinCreator === 0n) return { error: WRONG_BUYBACK_RECIPIENT }
  return settle(pool, fees, { paid: baseIn, received, base: baseIn, quote: fees.lp - quote })
}

function buyExactQuoteIn(
  pool: PumpSwapPool,
  trade: Extract<PumpSwapTrade, { kind: 'buyExactQuoteIn' }>,
  rates: PumpSwapFees,
): PumpSwapResult {
  const { quoteIn, baseOutMin } = trade
  if (quoteIn === 0n || baseOutMin === 0n) return { error: ZERO_AMOUNT }
  const whole = (quoteIn * BASIS_POINTS) / (BASIS_POINTS + sumOf(rates))
  const excess = whole + sumOf(feesOf(whole, rates)) - quoteIn
  const quote = excess > 0n ? whole - excess : whole
  if (whole === 0n || quote < 0n) return { error: CANNOT_COVER_FEES }
  // The program buys with one unit less.
  const spent = quote === 0n ? 0n : quote - 1n
  const received = (pool.baseReserve * spent) / (pool.quoteReserve + spent)
  if (received < baseOutMin) return { error: TOO_LITTLE_BASE }
  const fees = feesOf(quote, rates)
  return settle(pool, fees, {
    paid: quoteIn,
    received,
    base: -received,
    quote: quoteIn - fees.protocol - fees.coinCreator,
  })
}

/** Fees on top of, or taken from, a quote amount, in base units. Each is rounded up. */
function feesOf(quote: bigint, rates: PumpSwapFees): PumpSwapFees {
  const fee = (rate: bigint) => divideUp(quote * rate, BASIS_POINTS)
  return { lp: fee(rates.lp), protocol: fee(rates.protocol), coinCreator: fee(rates.coinCreator) }
}

const sumOf = ({ lp, protocol, coinCreator }: PumpSwapFees): bigint => lp + protocol + coinCreator

/** `base` and `quote` are the changes of the reserves. */
function settle(
  pool: PumpSwapPool,
  fees: PumpSwapFees,
  { paid, received, base, quote }: Readonly<{ paid: bigint; received: bigint; base: bigint; quote: bigint }>,
): PumpSwapResult {
  const buyback = (fees.protocol * pool.config.buybackBps) / BASIS_POINTS
  const payouts = {
    protocol: fees.protocol - buyback,
    buyback,
    coinCreator: pool.isCashbackCoin ? 0n : fees.coinCreator,
    cashback: pool.isCashbackCoin ? fees.coinCreator : 0n,
  }
  const next = { ...pool, baseReserve: pool.baseReserve + base, quoteReserve: pool.quoteReserve + quote }
  return { error: null, paid, received, payouts, next }
}
