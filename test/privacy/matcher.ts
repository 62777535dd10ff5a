import { randomInt } from 'node:crypto'
import { assign } from './assignment.ts'

/** The cost of an assumption: the negative logarithm of its likelihood, up to a constant. null = impossible. */
export type Cost = number | null

/**
 * Costs of the assumption that a payer's deposit, a payment between the legs and a payment to a recipient belong to one
 * exchange. `whole` judges all three together. The total cost is the sum.
 */
export type ChainCosts = Readonly<{
  /** Number of payments that could be between the legs, at least one for each exchange. The first ones are. */
  candidates: number
  first(payer: number, intermediary: number): Cost
  second(intermediary: number, recipient: number): Cost
  whole(payer: number, intermediary: number, recipient: number): Cost
}>

export type Match = Readonly<{ hits: number; count: number; chance: number }>

const IMPOSSIBLE_COST = 1e9
/** Upper bound of a possible cost, so that one large error does not outweigh all other pairs. */
const COST_MAX = 1e5
/** The joint search ends earlier, as soon as no step lowers the cost. */
const SEARCH_ROUNDS_MAX = 50

/**
 * Finds the best assignment of payers to recipients if no payment between the legs is visible.
 *
 * Payments with the same index belong together; this counts the hits. The recipients are shuffled before the assignment,
 * so that the index does not decide between equal costs. `chance` is the hit rate of a random choice among the possible
 * recipients. An exchange that the costs call impossible is an error: the matcher would look weaker than an analyst is.
 */
export function matchPairs(
  count: number,
  findCost: (payer: number, recipient: number) => Cost,
  drawBelow: (limit: number) => number = randomInt,
): Match {
  const order = shuffleIndexes(count, drawBelow)
  const costs = createMatrix([count, count], (payer, column) => limitCost(findCost(payer, order[column] ?? 0)))
  assertPossible(count, (n) => findCost(n, n))
  return countHits(costs, assign(costs), order)
}

/**
 * Finds the best assignment of payers to payments between the legs and of these to recipients. The joint assignment of
 * three sets is NP-hard. The search starts once with the best pairs of payer and recipient, and once with the best pairs of
 * payer and payment between the legs, each as if it could have the third as well. It then replaces one of the three sets at
 * a time by its optimal assignment until the total cost does not fall any more, and keeps the cheaper result.
 *
 * Indexes, hits and `chance` are those of `matchPairs`.
 */
export function matchChains(count: number, costs: ChainCosts, drawBelow: (limit: number) => number = randomInt): Match {
  const order = shuffleIndexes(count, drawBelow)
  const vias = shuffleIndexes(costs.candidates, drawBelow)
  assertPossible(count, (n) => addCosts(addCosts(costs.first(n, n), costs.second(n, n)), costs.whole(n, n, n)))
  const first = createMatrix([count, vias.length], (payer, column) => limitCost(costs.first(payer, vias[column] ?? 0)))
  const second = createMatrix([vias.length, count], (row, column) =>
    limitCost(costs.second(vias[row] ?? 0, order[column] ?? 0)),
  )
  const findTotal = (payer: number, via: number, recipient: number): number => {
    const legs = (first[payer]?.[via] ?? IMPOSSIBLE_COST) + (second[via]?.[recipient] ?? IMPOSSIBLE_COST)
    return legs >= IMPOSSIBLE_COST ? legs : legs + limitCost(costs.whole(payer, vias[via] ?? 0, order[recipient] ?? 0))
  }
  const pairCosts = findPairCosts(count, first, findTotal)
  return countHits(pairCosts, searchJointly({ count, candidates: vias.length, findTotal }, pairCosts), order)
}

type FindTotal = (payer: number, via: number, recipient: number) => number
type JointCosts = Readonly<{ count: number; candidates: number; findTotal: FindTotal }>
/** The payment between the legs and the recipient of each payer. */
type Assignment = Readonly<{ vias: readonly number[]; recipients: readonly number[] }>

/** The cost of each pair through the payment between the legs that suits it best. */
function findPairCosts(count: number, first: readonly (readonly number[])[], findTotal: FindTotal): number[][] {
  return first.map((viaCosts, payer) => {
    const possible = viaCosts.flatMap((cost, via) => (cost < IMPOSSIBLE_COST ? [via] : []))
    return Array.from({ length: count }, (_, recipient) =>
      possible.reduce((best, via) => Math.min(best, findTotal(payer, via, recipient)), IMPOSSIBLE_COST),
    )
  })
}

/** Returns the recipient of each payer. */
function searchJointly(costs: JointCosts, pairCosts: readonly (readonly number[])[]): readonly number[] {
  const { count, candidates, findTotal } = costs
  const byPair = assign(pairCosts)
  const viaCosts = createMatrix([count, candidates], (payer, via) => {
    let best = IMPOSSIBLE_COST
    for (let recipient = 0; recipient < count; recipient++) best = Math.min(best, findTotal(payer, via, recipient))
    return best
  })
  const byVia = assign(viaCosts)
  const fromPairs = improve(costs, { recipients: byPair, vias: assignVias(costs, byPair) })
  const fromVias = improve(costs, { recipients: assignRecipients(costs, byVia), vias: byVia })
  return (sumCosts(costs, fromVias) < sumCosts(costs, fromPairs) ? fromVias : fromPairs).recipients
}

/** Replaces one set at a time by its optimal assignment while the total cost falls. */
function improve(costs: JointCosts, start: Assignment): Assignment {
  let best = start
  for (let round = 0; round < SEARCH_ROUNDS_MAX; round++) {
    const { recipients } = assignPayers(costs, { vias: best.vias, recipients: assignRecipients(costs, best.vias) })
    const next = { recipients, vias: assignVias(costs, recipients) }
    if (sumCosts(costs, next) >= sumCosts(costs, best)) break
    best = next
  }
  return best
}

const sumCosts = ({ findTotal }: JointCosts, { vias, recipients }: Assignment): number =>
  recipients.reduce((sum, recipient, payer) => sum + findTotal(payer, vias[payer] ?? 0, recipient), 0)

const assignVias = ({ count, candidates, findTotal }: JointCosts, recipients: readonly number[]): readonly number[] =>
  assign(createMatrix([count, candidates], (payer, via) => findTotal(payer, via, recipients[payer] ?? 0)))

const assignRecipients = ({ count, findTotal }: JointCosts, vias: readonly number[]): readonly number[] =>
  assign(createMatrix([count, count], (payer, recipient) => findTotal(payer, vias[payer] ?? 0, recipient)))

/** Keeps each payment between the legs with its recipient and gives both to another payer. */
function assignPayers({ count, findTotal }: JointCosts, { vias, recipients }: Assignment): Assignment {
  const payers = assign(
    createMatrix([count, count], (row, payer) => findTotal(payer, vias[row] ?? 0, recipients[row] ?? 0)),
  )
  const rowOfPayer = new Map(payers.map((payer, row) => [payer, row]))
  const rows = payers.map((_, payer) => rowOfPayer.get(payer) ?? 0)
  return { vias: rows.map((row) => vias[row] ?? 0), recipients: rows.map((row) => recipients[row] ?? 0) }
}

const limitCost = (cost: Cost): number => (cost === null ? IMPOSSIBLE_COST : Math.min(cost, COST_MAX))

const addCosts = (a: Cost, b: Cost): Cost => (a === null || b === null ? null : a + b)

function createMatrix(
  [rows, columns]: readonly [number, number],
  findCost: (row: number, column: number) => number,
): number[][] {
  return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => findCost(row, column)))
}

function assertPossible(count: number, findTrueCost: (n: number) => Cost): void {
  for (let n = 0; n < count; n++)
    if (findTrueCost(n) === null) throw new Error(`the analyst calls exchange ${n} impossible, but it took place`)
}

function countHits(
  costs: readonly (readonly number[])[],
  assignment: readonly number[],
  order: readonly number[],
): Match {
  const possible = costs.map((row) => row.filter((cost) => cost < IMPOSSIBLE_COST).length)
  return {
    hits: assignment.filter((column, row) => order[column] === row).length,
    count: costs.length,
    chance: possible.reduce((sum, choices) => sum + (choices === 0 ? 0 : 1 / choices), 0) / costs.length,
  }
}

function shuffleIndexes(count: number, drawBelow: (limit: number) => number): readonly number[] {
  const indexes = Array.from({ length: count }, (_, n) => n)
  for (let n = count - 1; n > 0; n--) {
    const other = drawBelow(n + 1)
    ;[indexes[n], indexes[other]] = [indexes[other] ?? 0, indexes[n] ?? 0]
  }
  return indexes
}

export const describeMatch = (name: string, { hits, count, chance }: Match): string =>
  `${name}: ${hits} of ${count} matched (${((100 * hits) / count).toFixed(0)} %), chance ${(100 * chance).toFixed(1)} %`
