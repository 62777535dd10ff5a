import { isRecord } from '../../../lib/is-record.ts'
import { type Book, type Exchange, excerpt, LIMIT_WAIT_MS, Refusal } from './exchange.ts'

/**
 * Kraken, "Get Ticker Information" (docs.kraken.com/api/docs/rest-api/get-ticker-information): without `pair` the reply has
 * all pairs, `{"error": [], "result": {"XXBTZUSD": {"a": [ask, …], "b": [bid, …], …}}}`, about 0.5 MB, without a time. Errors
 * come with status 200 in `error`. Public requests are limited per address, to about one a second.
 */
export const kraken: Exchange = {
  url: 'https://api.kraken.com/0/public/Ticker',
  quoteCurrency: 'usd',
  intervalMs: 3_000,
  replyBytesMax: 4 * 1024 * 1024,
  // Old listings have the prefixes X and Z. Bitcoin is XBT, Dogecoin XDG.
  symbols: {
    btc: 'XXBTZUSD',
    eth: 'XETHZUSD',
    ltc: 'XLTCZUSD',
    doge: 'XDGUSD',
    bch: 'BCHUSD',
    bnb: 'BNBUSD',
    avax: 'AVAXUSD',
    pol: 'POLUSD',
    celo: 'CELOUSD',
    sei: 'SEIUSD',
    s: 'SUSD',
    xmr: 'XXMRZUSD',
    sol: 'SOLUSD',
    sui: 'SUIUSD',
    xrp: 'XXRPZUSD',
    xlm: 'XXLMZUSD',
    ton: 'TONUSD',
    trx: 'TRXUSD',
    usdt: 'USDTZUSD',
    usdc: 'USDCUSD',
    dai: 'DAIUSD',
    eurc: 'EURCUSD',
    wbtc: 'WBTCUSD',
    link: 'LINKUSD',
    uni: 'UNIUSD',
    aave: 'AAVEUSD',
    crv: 'CRVUSD',
    shib: 'SHIBUSD',
    pepe: 'PEPEUSD',
    arb: 'ARBUSD',
    op: 'OPUSD',
    cake: 'CAKEUSD',
    aero: 'AEROUSD',
    jup: 'JUPUSD',
    bonk: 'BONKUSD',
  },
  readBooks(body) {
    const reply: unknown = JSON.parse(body)
    const errors: unknown = isRecord(reply) ? reply['error'] : undefined
    if (!isRecord(reply) || !Array.isArray(errors)) throw new Refusal('the reply has another form than documented')
    if (errors.length > 0) throw toRefusal(errors.map(String))
    if (!isRecord(reply['result'])) throw new Refusal('the reply has another form than documented')
    return new Map(Object.entries(reply['result']).map(([symbol, ticker]) => [symbol, toBook(ticker)]))
  },
}

const LIMITS = ['EAPI:Rate limit', 'EGeneral:Temporary lockout', 'EService: Throttled', 'EService:Throttled']

function toRefusal(errors: readonly string[]): Refusal {
  const isLimit = errors.some((error) => LIMITS.some((limit) => error.startsWith(limit)))
  return new Refusal(excerpt(errors.join(', ')), isLimit ? LIMIT_WAIT_MS : null)
}

function toBook(ticker: unknown): Book {
  const best = (side: string): unknown => {
    const entries = isRecord(ticker) ? ticker[side] : undefined
    return Array.isArray(entries) ? entries[0] : undefined
  }
  return { bid: best('b'), ask: best('a'), at: null }
}
