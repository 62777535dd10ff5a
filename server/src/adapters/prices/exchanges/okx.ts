import { isRecord } from '../../../lib/is-record.ts'
import { type Exchange, excerpt, listOf, Refusal, readTime } from './exchange.ts'

/**
 * OKX, "GET / Tickers" (www.okx.com/docs-v5, Order Book Trading, Market Data): `{"code": "0", "msg": "", "data": [{"instType": "SPOT",
 * "instId": "BTC-USDT", "askPx": "65305", "bidPx": "65304", "ts": "1785145938264", …}]}`, about 0.3 MB, the time in milliseconds. 20
 * requests in two seconds are allowed. Its pairs in USD are not read: several stablecoins count as one dollar there.
 */
export const okx: Exchange = {
  url: 'https://www.okx.com/api/v5/market/tickers?instType=SPOT',
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
    s: 'S-USDT',
    sol: 'SOL-USDT',
    sui: 'SUI-USDT',
    xrp: 'XRP-USDT',
    xlm: 'XLM-USDT',
    ton: 'TON-USDT',
    trx: 'TRX-USDT',
    usdc: 'USDC-USDT',
    dai: 'DAI-USDT',
    wbtc: 'WBTC-USDT',
    link: 'LINK-USDT',
    uni: 'UNI-USDT',
    aave: 'AAVE-USDT',
    crv: 'CRV-USDT',
    shib: 'SHIB-USDT',
    pepe: 'PEPE-USDT',
    arb: 'ARB-USDT',
    op: 'OP-USDT',
    jup: 'JUP-USDT',
    bonk: 'BONK-USDT',
  },
  readBooks(body) {
    const reply: unknown = JSON.parse(body)
    if (!isRecord(reply) || reply['code'] !== '0') throw new Refusal(excerpt(`not code 0: ${body}`))
    const books = listOf(reply['data']).filter(isRecord)
    return new Map(
      books.map(({ instId, bidPx: bid, askPx: ask, ts }) => [String(instId), { bid, ask, at: readTime(ts, 'ms') }]),
    )
  },
}
