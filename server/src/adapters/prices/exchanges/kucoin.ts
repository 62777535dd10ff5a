import { isRecord } from '../../../lib/is-record.ts'
import { type Exchange, excerpt, listOf, Refusal, readTime } from './exchange.ts'

/**
 * KuCoin, "Get All Tickers" (www.kucoin.com/docs-new, Spot Trading, Market Data): `{"code": "200000", "data": {"time": 1785143386586,
 * "ticker": [{"symbol": "ETH-USDT", "buy": "1958.49", "sell": "1958.5", …}]}}`, about 0.7 MB: a snapshot every two seconds with its
 * time in milliseconds. The weight is 15 of 2,000 in 30 seconds.
 */
export const kucoin: Exchange = {
  url: 'https://api.kucoin.com/api/v1/market/allTickers',
  quoteCurrency: 'usdt',
  intervalMs: 2_000,
  replyBytesMax: 4 * 1024 * 1024,
  symbols: {
    btc: 'BTC-USDT',
    eth: 'ETH-USDT',
    ltc: 'LTC-USDT',
    doge: 'DOGE-USDT',
    bch: 'BCH-USDT',
    bnb: 'BNB-USDT',
    avax: 'AVAX-USDT',
    pol: 'POL-USDT',
    celo: 'CELO-USDT',
    sei: 'SEI-USDT',
    s: 'S-USDT',
    xmr: 'XMR-USDT',
    sol: 'SOL-USDT',
    sui: 'SUI-USDT',
    xrp: 'XRP-USDT',
    xlm: 'XLM-USDT',
    ton: 'TON-USDT',
    trx: 'TRX-USDT',
    usdc: 'USDC-USDT',
    wbtc: 'WBTC-USDT',
    link: 'LINK-USDT',
    uni: 'UNI-USDT',
    aave: 'AAVE-USDT',
    crv: 'CRV-USDT',
    shib: 'SHIB-USDT',
    pepe: 'PEPE-USDT',
    arb: 'ARB-USDT',
    op: 'OP-USDT',
    cake: 'CAKE-USDT',
    aero: 'AERO-USDT',
    jup: 'JUP-USDT',
    bonk: 'BONK-USDT',
  },
  readBooks(body) {
    const reply: unknown = JSON.parse(body)
    if (!isRecord(reply) || reply['code'] !== '200000' || !isRecord(reply['data']))
      throw new Refusal(excerpt(`not code 200000: ${body}`))
    const { time, ticker } = reply['data']
    const at = readTime(time, 'ms')
    const books = listOf(ticker).filter(isRecord)
    return new Map(books.map(({ symbol, buy: bid, sell: ask }) => [String(symbol), { bid, ask, at }]))
  },
}
