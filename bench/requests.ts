import { createHash } from 'node:crypto'
import { get, post } from './load.ts'
import { exchangeId } from './seed-database.ts'

const REQUEST_VARIANTS = 2_000
const POLLED_IDS = 1_000

const pairs = [
  ['eth', 'eth', 'btc', 'btc'],
  ['btc', 'btc', 'eth', 'eth'],
  ['ltc', 'ltc', 'eth', 'arbitrum'],
  ['eth', 'base', 'btc', 'btc'],
  ['bnb', 'bsc', 'eth', 'eth'],
  ['avax', 'cchain', 'ltc', 'ltc'],
  ['doge', 'doge', 'eth', 'eth'],
  ['eth', 'op', 'bnb', 'bsc'],
] as const

const query = ([fromCurrency, fromNetwork, toCurrency, toNetwork]: readonly string[], amount: string) =>
  new URLSearchParams({
    fromCurrency: fromCurrency ?? '',
    fromNetwork: fromNetwork ?? '',
    toCurrency: toCurrency ?? '',
    toNetwork: toNetwork ?? '',
    amount,
  }).toString()

export const quotePath = (pair: readonly string[], amount: string): string =>
  `/v1/cross-chain/rate?${query(pair, amount)}`
export const onePair = pairs[0]

/** Quotes in eight directions, each with a different amount. */
export const quoteRequests: readonly Buffer[] = Array.from({ length: REQUEST_VARIANTS }, (_, n) =>
  get(quotePath(pairs[n % pairs.length] ?? onePair, `1.${String(n + 1).padStart(6, '0')}`)),
)

/** Creates of exchanges, alternately with deposits on a UTXO chain and an account chain, each with a different recipient. */
export const createRequests = (path: string): readonly Buffer[] =>
  Array.from({ length: REQUEST_VARIANTS }, (_, n) => {
    const recipient = `0x${createHash('sha256').update(`recipient ${n}`).digest('hex').slice(0, 40)}`
    const from = n % 2 === 0 ? ['btc', 'btc'] : ['bnb', 'bsc']
    return post(path, {
      fromCurrency: from[0],
      fromNetwork: from[1],
      toCurrency: 'eth',
      toNetwork: 'eth',
      fromAmount: `1.${String(n + 1).padStart(6, '0')}`,
      flow: 'standard',
      address: recipient,
    })
  })

/** Status polls in shuffled order of `ids` exchanges, spread evenly over a table of `rows`. */
export const pollRequests = (path: string, rows: number, ids = POLLED_IDS): readonly Buffer[] => {
  const shuffled = Array.from({ length: ids }, (_, n) => 1 + ((n * 619) % ids) * (rows / ids))
  return shuffled.map((n) => get(`${path}?id=${exchangeId(Math.floor(n))}`))
}

/** One quote for every enabled pair of currencies. */
export async function listAllPairs(read: (path: string) => Promise<unknown>): Promise<readonly Buffer[]> {
  const currencies = (await read('/v1/cross-chain/available-currencies')) as {
    ticker: string
    network: string
    enabled: boolean
  }[]
  const enabled = currencies.filter((currency) => currency.enabled)
  return enabled.flatMap((from) =>
    enabled
      .filter((to) => to !== from)
      .map((to) => get(quotePath([from.ticker, from.network, to.ticker, to.network], '1.5'))),
  )
}
