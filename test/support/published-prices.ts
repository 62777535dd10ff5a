import { parseUnits } from 'viem'

/*
 * The prices that the sandbox publishes while markets are still, and conversions at them with the published spread. Nothing
 * here may come from the server: tests compare its amounts with these.
 */

/** Decimals, and the sandbox's base prices with still markets: dollars scaled by 10^12, and the distance of bid and ask. */
const MARKET: Readonly<Record<string, { decimals: number; dollars: string; bidAskBps: bigint }>> = {
  'btc@btc': { decimals: 8, dollars: '96400', bidAskBps: 4n },
  'ltc@ltc': { decimals: 8, dollars: '104', bidAskBps: 4n },
  'eth@eth': { decimals: 18, dollars: '3420', bidAskBps: 4n },
  'usdt@eth': { decimals: 6, dollars: '1.0001', bidAskBps: 2n },
  'usdc@base': { decimals: 6, dollars: '0.9999', bidAskBps: 2n },
  'xmr@xmr': { decimals: 12, dollars: '382', bidAskBps: 4n },
}
const PRICE_DECIMALS = 12
export const ALL_BPS = 10_000n
/** `spreads.majorBps` (docs/settings.md). */
export const SPREAD_BPS = 40n

/**
 * By how many percent a network fee may differ from every published one, because the quote and the payout may read it at
 * different blocks. A base fee moves by at most an eighth per block (EIP-1559); on eth the chaos suites replace up to five blocks,
 * after which it may be almost half. Chaos fleets whose nodes state constant rates (`fixedFees`) do not use this. litecoind estimates
 * from the fee rates that were paid, without a bound: without such a proxy a doubled or missing fee on ltc does not show. The nodes of
 * btc and xmr state a constant rate.
 */
const FEE_MOVE_PERCENT: Readonly<Record<string, bigint>> = { btc: 0n, eth: 50n, base: 25n, xmr: 0n, ltc: 100n }
export const feeMovePercent = (currency: string): bigint => FEE_MOVE_PERCENT[currency.split('@')[1] ?? ''] ?? 0n

export function decimalsOf(currency: string): number {
  return marketOf(currency).decimals
}

/** Units of `to` for `units` of `from`, before all fees: sold at the bid, bought at the ask, rounded down once. */
export function grossOf(from: string, to: string, units: bigint): bigint {
  const [sold, bought] = [marketOf(from), marketOf(to)]
  return (
    (units * (priceOf(from) - halfSpread(from)) * 10n ** BigInt(bought.decimals)) /
    ((priceOf(to) + halfSpread(to)) * 10n ** BigInt(sold.decimals))
  )
}

/** Units of `to` for `units` of `from` at the live rate, before the network fee. */
export const convertAtLiveRate = (from: string, to: string, units: bigint): bigint =>
  lessSpread(grossOf(from, to, units), SPREAD_BPS)

/** Units of `to` that cover a cost of `units` of `from`, which is bought at the ask with what `to` gives at the bid, rounded up once. */
export function costIn(from: string, to: string, units: bigint): bigint {
  if (from === to) return units
  const [bought, sold] = [marketOf(from), marketOf(to)]
  const divisor = (priceOf(to) - halfSpread(to)) * 10n ** BigInt(bought.decimals)
  return (units * (priceOf(from) + halfSpread(from)) * 10n ** BigInt(sold.decimals) + divisor - 1n) / divisor
}

export const lessSpread = (units: bigint, bps: bigint): bigint => (units * (ALL_BPS - bps)) / ALL_BPS

function marketOf(currency: string) {
  const market = MARKET[currency]
  if (market === undefined) throw new Error(`no published price of ${currency}`)
  return market
}

const priceOf = (currency: string): bigint => parseUnits(marketOf(currency).dollars, PRICE_DECIMALS)
/** Distance of bid and ask from the middle: rounded down, and one picodollar more. */
const halfSpread = (currency: string): bigint => (priceOf(currency) * marketOf(currency).bidAskBps) / 20_000n + 1n
