import { randomInt } from 'node:crypto'
import { assign } from './assignment.ts'

/** A payment as everybody sees it: what came from a payer, or what a recipient got. */
export type Seen = Readonly<{ asset: string; amount: number; time: number }>

/** What the service would have paid for it there and then, as its own quotes tell everybody; null = it does not serve the pair. */
export type Market = (from: Seen, to: Pick<Seen, 'asset' | 'time'>) => number | null

/**
 * What is known of the service: every payout comes between `leastSeconds` and `mostSeconds` after its deposit; and
 * how well the market is known: amounts that differ by less than the fraction `same` are the same to the matcher.
 */
export type Knowledge = Readonly<{ leastSeconds: number; mostSeconds: number; same: number }>

export type Match = Readonly<{ hits: number; count: number; chance: number }>

const IMPOSSIBLE = 1e9
/** More than this many tolerances off is as wrong as any: one that is far off must not outweigh all others. */
const OFF_MAX = 1e5

/**
 * The best assignment of payers to recipients by amount and time: how far each recipient's amount is from the payer's
 * converted one, and how far the time between them from the usual, which an outsider knows by the mean of both. `pairs`
 * are in the same order on both sides, by which the matcher is judged; it gets the recipients shuffled, so that among equals
 * it does not take the right one by its place. Chance: somebody who takes one of the possible recipients by lot.
 */
export function match(
  payers: readonly Seen[],
  recipients: readonly Seen[],
  market: Market,
  { leastSeconds, mostSeconds, same }: Knowledge,
  below: (most: number) => number = randomInt,
): Match {
  const usual = mean(recipients) - mean(payers)
  const spread = Math.max((mostSeconds - leastSeconds) / 2, 1)
  const order = shuffled(recipients.length, below)
  const costs = payers.map((payer, row) =>
    order.map((place) => {
      const recipient = recipients[place] ?? { asset: '', amount: 0, time: 0 }
      const expected = market(payer, recipient)
      // A matcher who sees less than there is shows nothing: what was served has a price.
      if (expected === null && place === row) throw new Error(`no price of ${payer.asset} → ${recipient.asset}`)
      const seconds = recipient.time - payer.time
      if (expected === null || expected <= 0 || seconds < leastSeconds || seconds > mostSeconds) return IMPOSSIBLE
      const off = Math.log(recipient.amount / expected) / same
      return Math.min(off * off, OFF_MAX) + ((seconds - usual) / spread) ** 2
    }),
  )
  const found = assign(costs)
  const possible = costs.map((row) => row.filter((cost) => cost < IMPOSSIBLE).length)
  return {
    hits: found.filter((column, row) => order[column] === row).length,
    count: payers.length,
    chance: possible.reduce((sum, choices) => sum + (choices === 0 ? 0 : 1 / choices), 0) / payers.length,
  }
}

function shuffled(count: number, below: (most: number) => number): readonly number[] {
  const places = Array.from({ length: count }, (_, n) => n)
  for (let n = count - 1; n > 0; n--) {
    const other = below(n + 1)
    ;[places[n], places[other]] = [places[other] ?? 0, places[n] ?? 0]
  }
  return places
}

const mean = (seen: readonly Seen[]): number => seen.reduce((sum, { time }) => sum + time, 0) / seen.length

export const describeMatch = (name: string, { hits, count, chance }: Match): string =>
  `${name}: ${hits} of ${count} matched (${((100 * hits) / count).toFixed(0)} %), chance ${(100 * chance).toFixed(1)} %`
