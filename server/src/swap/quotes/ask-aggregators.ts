import type { Aggregator, AggregatorOrder, AggregatorQuote, AggregatorTrade, TakerOrder } from '../ports/aggregator.ts'
import type { SwapChain } from '../ports/swap-chain.ts'

/** A quote with its aggregator. `contract` is null if the aggregator may be compared but not called. */
export type RankedQuote = AggregatorQuote & Readonly<{ source: string; contract: string | null }>

export type AskAggregatorsDeps = Readonly<{
  aggregators: readonly Aggregator[]
  /** Replies after this time are ignored. */
  budgetMs: number
}>

/** `callable`: only aggregators that may also execute the order. */
export type AskAggregators = (order: AggregatorOrder, which?: 'all' | 'callable') => Promise<readonly RankedQuote[]>

export type BuildAggregatorCall = (
  source: string,
  order: TakerOrder,
  chain: Pick<SwapChain, 'readAggregatorCall'>,
) => Promise<AggregatorTrade | null>

/** Asks all aggregators at once; best quote first. A slow or failing one delays the others by at most its budget. */
export function createAskAggregators({ aggregators, budgetMs }: AskAggregatorsDeps): AskAggregators {
  return async (order, which = 'all') => {
    const { network } = order
    const eligible = aggregators.filter(
      (one) => one.serves(network) && (which === 'all' || one.contracts(network).length > 0),
    )
    if (eligible.length === 0) return []
    const quotes = await Promise.all(eligible.map((one) => within(budgetMs, quoteOf(one, order, budgetMs))))
    return quotes
      .filter((quote) => quote !== null)
      .sort((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0))
  }
}

async function quoteOf(aggregator: Aggregator, order: AggregatorOrder, budgetMs: number): Promise<RankedQuote | null> {
  const quote = await aggregator.quote(order, budgetMs).catch(() => null)
  if (quote === null) return null
  return { source: aggregator.id, ...quote, contract: aggregator.contracts(order.network)[0] ?? null }
}

/** Asks one aggregator for its transaction. Null if it or the check of it is late, or if it uses unpublished contracts. */
export function createBuildAggregatorCall({ aggregators, budgetMs }: AskAggregatorsDeps): BuildAggregatorCall {
  return async (source, order, chain) => {
    const aggregator = aggregators.find(({ id }) => id === source)
    if (aggregator === undefined) return null
    const transaction = await within(
      budgetMs,
      aggregator.build(order, budgetMs).catch(() => null),
    )
    if (transaction === null) return null
    // The aggregator decides what the check reads. Where it asks a node that does not answer, our own route reports it.
    const late = new AbortController()
    const contracts = aggregator.contracts(order.network)
    const checked = chain.readAggregatorCall(transaction, order, contracts, late.signal).catch(() => null)
    return within(budgetMs, checked).finally(() => late.abort())
  }
}

/** Bounds adapters that ignore their own timeout. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
