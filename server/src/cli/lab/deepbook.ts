import {
  cancelOrder,
  type DeepbookAccount,
  type DeepbookLedger,
  type OrderRequest,
  type OrderType,
  type PlacedOrder,
  placeOrder,
  type RestingOrder,
  reduceOrder,
  swapOnLedger,
  withdrawSettled,
} from '@swapyard/lib/pools/sui/deepbook-accounts.ts'
import { addDeepPricePoint, meanDeepPrice, referenceRate } from '@swapyard/lib/pools/sui/deepbook-deep-price.ts'
import type { OrderDeepPrice } from '@swapyard/lib/pools/sui/deepbook-fee.ts'
import { type DeepbookBalances, NO_BALANCES } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { catchAbort, type MoveAbortCode } from '@swapyard/lib/pools/sui/move-abort.ts'
import { readPart, requireList, requireMembers } from './file-form.ts'
import type { LabSwap } from './lab-swap.ts'

/** Members of a recorded file that the replay reads; the state of the book follows from the operations alone. */
type RecordedPrice = Readonly<{
  referencePool?: string
  points?: readonly (readonly [timestampMs: string, bid: string, ask: string])[]
}>
export type RecordedOperation = Readonly<{
  op: string
  n?: number
  now?: string
  manager?: number
  orderType?: number
  selfMatching?: number
  price?: string
  quantity?: string
  newQuantity?: string
  remaining?: string
  isBid?: boolean
  payWithDeep?: boolean
  expire?: string
  amountIn?: string
  deepIn?: string
  minOut?: string
}>
type RecordedBook = Readonly<{
  tickSize: string
  lotSize: string
  minSize: string
  whitelisted: boolean
  takerFee: string
  makerFee: string
  stakeRequired: string
  takerStake: string
  deepPrice: RecordedPrice | null
  start: string
  funds: readonly (readonly [string, string, string])[]
  ops: readonly RecordedOperation[]
}>

/** The manager whose stake the file names. */
const STAKER = 2
const ORDER_TYPES: readonly OrderType[] = ['none', 'immediate-or-cancel', 'fill-or-kill', 'post-only']
const SELF_MATCHING: readonly OrderRequest['selfMatching'][] = ['allowed', 'cancel-taker', 'cancel-maker']

type Outcome = Readonly<{
  next: DeepbookLedger
  /** Of a limit or market order. */
  placed?: PlacedOrder
  /** Base units, of a swap. */
  swapped?: Readonly<{ paid: bigint; received: bigint; deepPaid: bigint }>
}>

export type ReplayedOperation = Readonly<{
  book: number
  index: number
  operation: RecordedOperation
  before: DeepbookLedger
  outcome: Outcome | Readonly<{ abort: MoveAbortCode }>
  after: DeepbookLedger
}>

/** Replays a file of recorded DeepBook operations. Orders build the book; only swaps make a line. */
export function replayDeepbook(content: unknown): LabSwap[] {
  return replayDeepbookBooks(content).flatMap(({ book, index, operation, outcome }) => {
    if (!operation.op.startsWith('swap_exact_')) return []
    const { paid, received } = 'abort' in outcome ? { paid: 0n, received: 0n } : (outcome.swapped ?? failAt(operation))
    const error = 'abort' in outcome ? outcome.abort.code : null
    return { pool: book, n: operation.n ?? index, paid, received, error }
  })
}

/** Applies every operation to the state after the one before it. An aborted operation changes nothing. */
export function replayDeepbookBooks(content: unknown): ReplayedOperation[] {
  const { books } = content as Readonly<{ books?: readonly RecordedBook[] }>
  return requireList(books, 'books').flatMap((recorded, book) => {
    const path = `books[${book}]`
    requireMembers(recorded, path, bookMembers)
    let ledger = readPart(path, () => readLedger(recorded))
    return requireList(recorded.ops, `${path}.ops`).map((operation, index) => {
      const operationPath = `${path}.ops[${index}]`
      requireMembers(operation, operationPath, ['op'])
      requireMembers(operation, operationPath, operationMembers[operation.op] ?? [])
      const before = ledger
      const outcome = readPart(operationPath, () => catchAbort(() => applyOperation(before, operation)))
      if (!('abort' in outcome)) ledger = outcome.next
      return { book, index, operation, before, outcome, after: ledger }
    })
  })
}

const bookMembers = [
  ...['tickSize', 'lotSize', 'minSize', 'takerFee', 'makerFee', 'stakeRequired', 'takerStake', 'start', 'funds'],
]
const swapMembers = ['amountIn', 'deepIn', 'minOut']
const operationMembers: Readonly<Record<string, readonly string[]>> = {
  clock: ['now'],
  limit: ['manager', 'orderType', 'selfMatching', 'price', 'quantity', 'expire'],
  market: ['manager', 'selfMatching', 'quantity'],
  swap_exact_base_for_quote: swapMembers,
  swap_exact_quote_for_base: swapMembers,
  modify: ['manager', 'newQuantity'],
  withdraw_settled: ['manager'],
}

function readLedger(recorded: RecordedBook): DeepbookLedger {
  const stake = BigInt(recorded.takerStake)
  const accounts = recorded.funds.map(([base, quote, deep], manager): [string, DeepbookAccount] => {
    const activeStake = manager === STAKER ? stake : 0n
    const funds: DeepbookBalances = [BigInt(base), BigInt(quote), BigInt(deep) - activeStake]
    return [String(manager), { funds, settled: NO_BALANCES, volume: 0n, activeStake }]
  })
  return {
    ...{ tickSize: BigInt(recorded.tickSize), lotSize: BigInt(recorded.lotSize), minSize: BigInt(recorded.minSize) },
    ...{ takerFee: BigInt(recorded.takerFee), makerFee: BigInt(recorded.makerFee), gasPricePenalty: 0n },
    ...{ stakeRequired: BigInt(recorded.stakeRequired), isWhitelisted: recorded.whitelisted },
    ...{ deepPrice: readDeepPrice(recorded.deepPrice), nowMs: BigInt(recorded.start) },
    ...{ bids: [], asks: [], accounts: new Map(accounts), vault: [0n, 0n, stake] },
  }
}

/** Whitelisted pools have no points. */
function readDeepPrice(price: RecordedPrice | null): OrderDeepPrice | null {
  if (price?.points === undefined) return null
  const [assetIsBase, isDeepBase] = [/BASE/.test(price.referencePool ?? ''), /^DEEP/.test(price.referencePool ?? '')]
  let points: Parameters<typeof addDeepPricePoint>[0] = { base: [], quote: [] }
  for (const [timestampMs, bid, ask] of price.points) {
    const rate = referenceRate(BigInt(bid), BigInt(ask), isDeepBase)
    points = addDeepPricePoint(points, assetIsBase, { rate, timestampMs: BigInt(timestampMs) })
  }
  return meanDeepPrice(points)
}

/** Quotes and snapshots change nothing. */
function applyOperation(ledger: DeepbookLedger, operation: RecordedOperation): Outcome {
  switch (operation.op) {
    case 'clock':
      return { next: { ...ledger, nowMs: BigInt(operation.now ?? '') } }
    case 'limit':
    case 'market': {
      const placed = placeOrder(ledger, readOrder(ledger, operation))
      return { next: placed.next, placed }
    }
    case 'swap_exact_base_for_quote':
    case 'swap_exact_quote_for_base': {
      const { amountIn = '', deepIn = '', minOut = '' } = operation
      const swap = { amount: BigInt(amountIn), deepIn: BigInt(deepIn), outputMin: BigInt(minOut) }
      const swapped = swapOnLedger(ledger, { isBid: operation.op === 'swap_exact_quote_for_base', ...swap })
      return { next: swapped.next, swapped }
    }
    case 'cancel':
      return { next: cancelOrder(ledger, findOrder(ledger, operation)) }
    case 'modify':
      return { next: reduceOrder(ledger, findOrder(ledger, operation), BigInt(operation.newQuantity ?? '')) }
    case 'withdraw_settled':
      return { next: withdrawSettled(ledger, managerOf(operation)) }
    default:
      return { next: ledger }
  }
}

function readOrder({ nowMs }: DeepbookLedger, operation: RecordedOperation): OrderRequest {
  const isMarket = operation.op === 'market'
  return {
    manager: managerOf(operation),
    orderType: isMarket ? 'immediate-or-cancel' : (ORDER_TYPES[operation.orderType ?? -1] ?? failAt(operation)),
    selfMatching: SELF_MATCHING[operation.selfMatching ?? -1] ?? failAt(operation),
    price: isMarket ? null : BigInt(operation.price ?? ''),
    quantity: BigInt(operation.quantity ?? ''),
    isBid: operation.isBid === true,
    isFeeInDeep: operation.payWithDeep === true,
    expiresAtMs: isMarket ? nowMs : BigInt(operation.expire ?? ''),
  }
}

/** The file names an order by its manager, price and quantity, and a cancelled one by what remains of it. */
function findOrder({ bids, asks }: DeepbookLedger, operation: RecordedOperation): RestingOrder {
  const { manager, price, quantity, remaining, isBid } = operation
  const found = (isBid === true ? bids : asks).find(
    (order) =>
      order.manager === String(manager) &&
      String(order.price) === price &&
      (quantity === undefined || String(order.quantity) === quantity) &&
      (remaining === undefined || String(order.remaining) === remaining),
  )
  return found ?? failAt(operation)
}

const managerOf = (operation: RecordedOperation): string => String(operation.manager ?? failAt(operation))

function failAt(operation: RecordedOperation): never {
  throw new Error(`The operation ${JSON.stringify(operation)} names no known order, manager or option`)
}
