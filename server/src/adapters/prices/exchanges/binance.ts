import { isRecord } from '../../../lib/is-record.ts'
import { type Exchange, listOf } from './exchange.ts'

/**
 * Binance, "Symbol order book ticker" (github.com/binance/binance-spot-api-docs, rest-api.md): a list of `{"symbol": "LTCBTC",
 * "bidPrice": "4.00000000", "bidQty": …, "askPrice": "4.00000200", "askQty": …}`, about 0.5 MB, without a time. The weight is 4 of
 * 6,000 a minute; 429 and 418 have a `Retry-After`.
 */
export const binance: Exchange = {
  url: 'https://api.binance.com/api/v3/ticker/bookTicker',
  quoteCurrency: 'usdt',
  intervalMs: 2_000,
  replyBytesMax: 4 * 1024 * 1024,
  symbols: {
    btc: 'BTCUSDT',
    eth: 'ETHUSDT',
    ltc: 'LTCUSDT',
    doge: 'DOGEUSDT',
    bch: 'BCHUSDT',
    bnb: 'BNBUSDT',
    avax: 'AVAXUSDT',
    pol: 'POLUSDT',
    celo: 'CELOUSDT',
    sei: 'SEIUSDT',
    s: 'SUSDT',
    sol: 'SOLUSDT',
    sui: 'SUIUSDT',
    xrp: 'XRPUSDT',
    xlm: 'XLMUSDT',
    ton: 'TONUSDT',
    trx: 'TRXUSDT',
    usdc: 'USDCUSDT',
    wbtc: 'WBTCUSDT',
    link: 'LINKUSDT',
    uni: 'UNIUSDT',
    aave: 'AAVEUSDT',
    crv: 'CRVUSDT',
    shib: 'SHIBUSDT',
    pepe: 'PEPEUSDT',
    arb: 'ARBUSDT',
    op: 'OPUSDT',
    cake: 'CAKEUSDT',
    jup: 'JUPUSDT',
    bonk: 'BONKUSDT',
  },
  readBooks(body) {
    const books = listOf(JSON.parse(body)).filter(isRecord)
    return new Map(
      books.map((book) => [String(book['symbol']), { bid: book['bidPrice'], ask: book['askPrice'], at: null }]),
    )
  },
}
