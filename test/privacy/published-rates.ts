import type { Scenario } from '../support/scenario.ts'
import { type Pair, splitAssetId } from './run-exchanges.ts'

/** The amount that the service pays for an amount according to its public quotes; null if it does not serve the pair. */
export type Market = (from: Readonly<{ asset: string; amount: number }>, toAsset: string) => number | null

/** `first`: standard quotes from a source to an intermediary. `whole`: private quotes from a source to a target. */
export type PublishedRates = Readonly<{ first: Market; whole: Market }>

/** Decimals of the asset that has the fewest. */
const QUOTED_DECIMALS = 6

/** Reads the rates of all sources, intermediaries and targets. Prices are constant, so they hold for the whole run. */
export async function readPublishedRates(
  scenario: Scenario,
  pairs: readonly Pair[],
  intermediaries: readonly string[],
): Promise<PublishedRates> {
  const targets = [...new Set(pairs.map(({ to }) => to))]
  return {
    first: await fitMarket(pairs, intermediaries, (from, to, amount) =>
      fetchQuote(scenario, 'rate', from, to, { amount, flow: 'standard' }),
    ),
    whole: await fitMarket(pairs, targets, (from, to, amount) =>
      fetchQuote(scenario, 'rate/private', from, to, { amount, privateType: 'efficient' }),
    ),
  }
}

type FetchQuote = (from: string, to: string, amount: string) => Promise<number | null>

/** Fits a straight line to the quotes of each pair. Network fees give the intercept, everything else the slope. */
async function fitMarket(pairs: readonly Pair[], targets: readonly string[], fetch: FetchQuote): Promise<Market> {
  const lines = new Map<string, { slope: number; intercept: number }>()
  for (const from of new Set(pairs.map((pair) => pair.from))) {
    const amounts = pairs.filter((pair) => pair.from === from).map(({ amount }) => Number(amount))
    const [low, high] = [
      Math.min(...amounts).toFixed(QUOTED_DECIMALS),
      (1.1 * Math.max(...amounts)).toFixed(QUOTED_DECIMALS),
    ]
    for (const to of targets) {
      const [first, second] = await Promise.all([fetch(from, to, low), fetch(from, to, high)])
      if (first === null || second === null) continue
      const slope = (second - first) / (Number(high) - Number(low))
      lines.set(`${from}>${to}`, { slope, intercept: first - slope * Number(low) })
    }
  }
  return ({ asset, amount }, toAsset) => {
    const line = lines.get(`${asset}>${toAsset}`)
    return line === undefined ? null : line.intercept + line.slope * amount
  }
}

async function fetchQuote(
  scenario: Scenario,
  path: 'rate' | 'rate/private',
  from: string,
  to: string,
  terms: Readonly<Record<string, string>>,
): Promise<number | null> {
  const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [splitAssetId(from), splitAssetId(to)]
  const query = new URLSearchParams({ fromCurrency, fromNetwork, toCurrency, toNetwork, ...terms })
  const { status, body } = await scenario.call('GET', `/v1/cross-chain/${path}?${query}`)
  if (status === 200) return Number(body.toAmount)
  if (body.code === 'PAIR_UNAVAILABLE' || body.code === 'SAME_CURRENCY') return null
  throw new Error(`${from} → ${to}: ${JSON.stringify(body)}`)
}
