import type { Scenario } from '../support/scenario.ts'
import { type Pair, split } from './hundred.ts'
import type { Market, Seen } from './matcher.ts'
import type { Movement } from './movements.ts'
import type { Observer } from './observer.ts'

/** Whole coins, for the arithmetic of a guess. */
const coins = (scenario: Scenario, asset: string, units: bigint): number => {
  const [ticker, network] = split(asset)
  const found = scenario.app.catalogue
    .list()
    .find((one) => one.asset.ticker === ticker && one.asset.network === network)
  if (!found) throw new Error(`how many decimals ${asset} has is not known`)
  return Number(units) / 10 ** found.asset.decimals
}

/** What each payer paid, and each recipient got, as the chains show it: amounts, and times of blocks. */
export function seenBy(
  scenario: Scenario,
  { movements, paidBy, holderOf }: Observer,
  pairs: readonly Pair[],
): { payers: readonly Seen[]; recipients: readonly Seen[] } {
  const show = (movement: Movement | undefined, isHis: (holder: string) => boolean): Seen => {
    const side = movement?.to.find(({ holder }) => isHis(holder))
    if (!movement || !side) throw new Error('a payment is not on the chain')
    return { asset: side.asset, amount: coins(scenario, side.asset, side.units), time: movement.time }
  }
  return {
    payers: pairs.map(({ payer }) => {
      const paid = paidBy(payer)
      return show(
        movements.find(({ txHash, to }) => txHash === payer.txHash && to.some(({ holder }) => paid.has(holder))),
        (holder) => paid.has(holder),
      )
    }),
    recipients: pairs.map(({ recipient }) => {
      const his = holderOf(recipient)
      return show(
        movements.find(({ to }) => to.some(({ holder }) => holder === his)),
        (holder) => holder === his,
      )
    }),
  }
}

/**
 * The service's own public quotes as a straight line for each pair: fees of networks are its start, everything else its
 * slope. Nobody knows better what a deposit becomes.
 */
export async function askMarket(scenario: Scenario, pairs: readonly Pair[]): Promise<Market> {
  const lines = new Map<string, { slope: number; start: number }>()
  const sources = [...new Set(pairs.map(({ from }) => from))]
  const targets = [...new Set(pairs.map(({ to }) => to))]
  for (const from of sources) {
    const paid = pairs.filter((pair) => pair.from === from).map(({ amount }) => Number(amount))
    const [low, high] = [Math.min(...paid), Math.max(...paid)]
    for (const to of targets) {
      const [first, second] = await Promise.all([quote(scenario, from, to, low), quote(scenario, from, to, high * 1.1)])
      if (first === null || second === null) continue
      const slope = (second - first) / (high * 1.1 - low)
      lines.set(`${from}>${to}`, { slope, start: first - slope * low })
    }
  }
  return ({ asset, amount }, { asset: toAsset }) => {
    const line = lines.get(`${asset}>${toAsset}`)
    return line === undefined ? null : line.start + line.slope * amount
  }
}

/** Those of the coarsest asset here. */
const QUOTED_DECIMALS = 6

async function quote(scenario: Scenario, from: string, to: string, amount: number): Promise<number | null> {
  const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [split(from), split(to)]
  const query = new URLSearchParams({
    fromCurrency,
    fromNetwork,
    toCurrency,
    toNetwork,
    amount: amount.toFixed(QUOTED_DECIMALS),
    privateType: 'efficient',
  })
  const { status, body } = await scenario.call('GET', `/v1/cross-chain/rate/private?${query}`)
  if (status === 200) return Number(body.toAmount)
  if (body.code === 'PAIR_UNAVAILABLE' || body.code === 'SAME_CURRENCY') return null
  throw new Error(`${from} → ${to}: ${JSON.stringify(body)}`)
}
