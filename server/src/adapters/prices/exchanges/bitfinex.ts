import { parseExactJson } from '../decimal.ts'
import { type Book, type Exchange, excerpt, listOf, Refusal } from './exchange.ts'

/**
 * Bitfinex, "Tickers" (docs.bitfinex.com/reference/rest-public-tickers): a list of `["tBTCUSD", BID, BID_SIZE, ASK, ASK_SIZE, …]`
 * and of funding tickers, which begin with `f`. Prices are JSON numbers; about 0.2 MB, without a time. An error is
 * `["error", code, text]`. 90 requests a minute are allowed; then the address is blocked for a minute.
 */
export const bitfinex: Exchange = {
  url: 'https://api-pub.bitfinex.com/v2/tickers?symbols=ALL',
  quoteCurrency: 'usd',
  intervalMs: 3_000,
  replyBytesMax: 2 * 1024 * 1024,
  // Names of more than three characters are separated by a colon. UST is Tether, UDC is USD Coin, WBT is WBTC.
  symbols: {
    btc: 'tBTCUSD',
    eth: 'tETHUSD',
    ltc: 'tLTCUSD',
    doge: 'tDOGE:USD',
    bch: 'tBCHN:USD',
    avax: 'tAVAX:USD',
    sei: 'tSEIUSD',
    xmr: 'tXMRUSD',
    sol: 'tSOLUSD',
    sui: 'tSUIUSD',
    xrp: 'tXRPUSD',
    xlm: 'tXLMUSD',
    ton: 'tTONUSD',
    trx: 'tTRXUSD',
    usdt: 'tUSTUSD',
    usdc: 'tUDCUSD',
    dai: 'tDAIUSD',
    wbtc: 'tWBTUSD',
    link: 'tLINK:USD',
    uni: 'tUNIUSD',
    aave: 'tAAVE:USD',
    crv: 'tCRVUSD',
    shib: 'tSHIB:USD',
    pepe: 'tPEPE:USD',
    arb: 'tARBUSD',
    op: 'tOPXUSD',
    jup: 'tJUPUSD',
    bonk: 'tBONK:USD',
  },
  readBooks(body) {
    const reply = listOf(parseExactJson(body))
    if (reply[0] === 'error') throw new Refusal(excerpt(reply.map(String).join(' ')))
    return new Map(reply.map(toEntry))
  },
}

function toEntry(ticker: unknown): readonly [string, Book] {
  const [symbol, bid, , ask] = Array.isArray(ticker) ? ticker : []
  return [String(symbol), { bid, ask, at: null }]
}
