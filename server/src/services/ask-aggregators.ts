import type { Aggregator, AggregatorOrder } from '../ports/aggregator.ts'

/** What others would pay, before any fee of ours. */
export type OutsideOffer = Readonly<{ source: string; amountOut: bigint }>

export type AskAggregatorsDeps = Readonly<{
  aggregators: readonly Aggregator[]
  /** Whoever has not answered by then has no offer. */
  budgetMs: number
}>

export type AskAggregators = (order: AggregatorOrder) => Promise<readonly OutsideOffer[]>

/** Asks all at once. A slow or failing one costs its budget at most, and nobody's answer. The best comes first. */
export function createAskAggregators({ aggregators, budgetMs }: AskAggregatorsDeps): AskAggregators {
  return async (order) => {
    const asked = aggregators.filter((one) => one.serves(order.network))
    if (asked.length === 0) return []
    const offers = await Promise.all(asked.map((one) => within(budgetMs, offerOf(one, order, budgetMs))))
    return offers
      .filter((offer) => offer !== null)
      .sort((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0))
  }
}

async function offerOf(aggregator: Aggregator, order: AggregatorOrder, budgetMs: number): Promise<OutsideOffer | null> {
  const amountOut = await aggregator.amountOut(order, budgetMs).catch(() => null)
  return amountOut === null ? null : { source: aggregator.id, amountOut }
}

/** The adapter has its own limit; this one holds even where it fails to. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
