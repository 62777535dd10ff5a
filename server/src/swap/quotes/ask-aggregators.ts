import type { OutsideCall } from '../domain/aggregator-call.ts'
import { isNative } from '../domain/token.ts'
import type { Aggregator, AggregatorCall, AggregatorOrder, TakerOrder } from '../ports/aggregator.ts'

/** What others would pay, before any fee of ours. */
export type OutsideOffer = Readonly<{
  source: string
  amountOut: bigint
  /** null where it did not say. */
  gas: number | null
  /** Its contract there; null = it is compared with, and not called. */
  contract: string | null
}>

export type AskAggregatorsDeps = Readonly<{
  aggregators: readonly Aggregator[]
  /** Whoever has not answered by then has no offer. */
  budgetMs: number
}>

/** `callable`: only those that may carry the order out, too. */
export type AskAggregators = (order: AggregatorOrder, whom?: 'all' | 'callable') => Promise<readonly OutsideOffer[]>

/** A call with what it is said to pay. */
export type OutsideTrade = Readonly<{ amountOut: bigint; call: OutsideCall }>
export type AskForCall = (source: string, order: TakerOrder) => Promise<OutsideTrade | null>

/** Asks all at once. A slow or failing one costs its budget at most, and nobody's answer. The best comes first. */
export function createAskAggregators({ aggregators, budgetMs }: AskAggregatorsDeps): AskAggregators {
  return async (order, whom = 'all') => {
    const { network } = order
    const asked = aggregators.filter(
      (one) => one.serves(network) && (whom === 'all' || one.contracts(network).length > 0),
    )
    if (asked.length === 0) return []
    const offers = await Promise.all(asked.map((one) => within(budgetMs, offerOf(one, order, budgetMs))))
    return offers
      .filter((offer) => offer !== null)
      .sort((a, b) => (a.amountOut < b.amountOut ? 1 : a.amountOut > b.amountOut ? -1 : 0))
  }
}

async function offerOf(aggregator: Aggregator, order: AggregatorOrder, budgetMs: number): Promise<OutsideOffer | null> {
  const offer = await aggregator.offer(order, budgetMs).catch(() => null)
  if (offer === null) return null
  return { source: aggregator.id, ...offer, contract: aggregator.contracts(order.network)[0] ?? null }
}

/** Asks one for its transaction. null where it has none in time, or one that is not made of its published contracts. */
export function createAskForCall({ aggregators, budgetMs }: AskAggregatorsDeps): AskForCall {
  return async (source, order) => {
    const aggregator = aggregators.find(({ id }) => id === source)
    if (aggregator === undefined) return null
    const built = await within(
      budgetMs,
      aggregator.build(order, budgetMs).catch(() => null),
    )
    return built === null ? null : readCall(built, order, new Set(aggregator.contracts(order.network)))
  }
}

/** A selector at least; transactions of 128 KiB are refused by nodes. */
const CALLDATA = /^0x[0-9a-f]{8}([0-9a-f]{2}){0,65536}$/

export function readCall(
  { amountOut, target, spender, value, calldata }: AggregatorCall,
  { tokenIn, amountIn }: AggregatorOrder,
  contracts: ReadonlySet<string>,
): OutsideTrade | null {
  const coinIn = isNative(tokenIn)
  const [called, spends, bytes] = [target.toLowerCase(), spender?.toLowerCase() ?? null, calldata.toLowerCase()]
  if (!contracts.has(called) || !CALLDATA.test(bytes)) return null
  if (value !== (coinIn ? amountIn : 0n)) return null
  if (coinIn) return { amountOut, call: { target: called, spender: null, calldata: bytes } }
  if (spends === null || !contracts.has(spends)) return null
  return { amountOut, call: { target: called, spender: spends, calldata: bytes } }
}

/** The adapter has its own limit; this one holds even where it fails to. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
