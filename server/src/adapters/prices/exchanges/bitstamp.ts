import { isRecord } from '../../../lib/is-record.ts'
import { type Exchange, listOf, readTime } from './exchange.ts'

/**
 * Bitstamp, "Get tickers of all currency pairs" (www.bitstamp.net/api, Tickers): a list of `{"pair": "BTC/USD", "bid": "65236",
 * "ask": "65237", "timestamp": "1785145937", "market_type": "SPOT", …}`, about 0.1 MB, the time in seconds. 10,000 requests in
 * ten minutes are allowed.
 */
export const bitstamp: Exchange = {
  url: 'https://www.bitstamp.net/api/v2/ticker/',
  quoteCurrency: 'usd',
  intervalMs: 2_000,
  replyBytesMax: 2 * 1024 * 1024,
  symbols: {
    btc: 'BTC/USD',
    eth: 'ETH/USD',
    ltc: 'LTC/USD',
    doge: 'DOGE/USD',
    bch: 'BCH/USD',
    avax: 'AVAX/USD',
    pol: 'POL/USD',
    sei: 'SEI/USD',
    sol: 'SOL/USD',
    sui: 'SUI/USD',
    xrp: 'XRP/USD',
    xlm: 'XLM/USD',
    usdt: 'USDT/USD',
    usdc: 'USDC/USD',
    dai: 'DAI/USD',
    link: 'LINK/USD',
    uni: 'UNI/USD',
    aave: 'AAVE/USD',
    crv: 'CRV/USD',
    shib: 'SHIB/USD',
    pepe: 'PEPE/USD',
  },
  readBooks(body) {
    // A perpetual future has a market of its own (`BTC/USD-PERP`) and may have the pair of the spot market.
    const spot = listOf(JSON.parse(body)).filter(isRecord).filter(isSpot)
    return new Map(
      spot.map(({ pair, bid, ask, timestamp }) => [String(pair), { bid, ask, at: readTime(timestamp, 's') }]),
    )
  },
}

const isSpot = ({ market_type: type, pair, market }: Readonly<Record<string, unknown>>): boolean =>
  (type === undefined || type === 'SPOT') && (market === undefined || market === pair)
