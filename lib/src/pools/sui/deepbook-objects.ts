/* The objects of DeepBook v3 in BCS, as package version 8 declares them. */
import { type BcsType, bcs } from '@mysten/sui/bcs'
import { meanDeepPrice } from './deepbook-deep-price.ts'
import type { GasPriceState } from './deepbook-gas-penalty.ts'
import type { DeepbookOrder, DeepbookState } from './deepbook-matching.ts'

const table = bcs.struct('Table', { id: bcs.Address, size: bcs.u64() })
const balances = bcs.struct('Balances', { base: bcs.u64(), quote: bcs.u64(), deep: bcs.u64() })
const tradeParams = bcs.struct('TradeParams', {
  ...{ takerFee: bcs.u64(), makerFee: bcs.u64(), stakeRequired: bcs.u64() },
})

/** A B+ tree, whose nodes are dynamic fields. */
const bigVector = bcs.struct('BigVector', {
  ...{ id: bcs.Address, depth: bcs.u8(), length: bcs.u64(), maxSliceSize: bcs.u64(), maxFanOut: bcs.u64() },
  ...{ rootId: bcs.u64(), lastId: bcs.u64() },
})
export type BigVector = typeof bigVector.$inferType

const book = bcs.struct('Book', {
  ...{ tickSize: bcs.u64(), lotSize: bcs.u64(), minSize: bcs.u64(), bids: bigVector, asks: bigVector },
  ...{ nextBidOrderId: bcs.u64(), nextAskOrderId: bcs.u64() },
})

const history = bcs.struct('History', {
  ...{ epoch: bcs.u64(), epochCreated: bcs.u64() },
  volumes: bcs.struct('Volumes', {
    ...{ total: bcs.u128(), totalStaked: bcs.u128(), fees: balances, historicMedian: bcs.u128(), tradeParams },
  }),
  ...{ historicVolumes: table, balanceToBurn: bcs.u64() },
})

const proposal = bcs.struct('Proposal', {
  takerFee: bcs.u64(),
  makerFee: bcs.u64(),
  stake: bcs.u64(),
  votes: bcs.u64(),
})
const governance = bcs.struct('Governance', {
  ...{ epoch: bcs.u64(), isWhitelisted: bcs.bool(), isStable: bcs.bool() },
  proposals: bcs.vector(bcs.struct('Entry', { manager: bcs.Address, proposal })),
  ...{ tradeParams, nextTradeParams: tradeParams, votingPower: bcs.u64(), quorum: bcs.u64() },
})

const price = bcs.struct('Price', { rate: bcs.u64(), timestampMs: bcs.u64() })

/** The object that a swap names. All else is in a dynamic field under the version of `inner`. */
export const deepbookPoolSchema = bcs.struct('Pool', {
  id: bcs.Address,
  inner: bcs.struct('Versioned', { id: bcs.Address, version: bcs.u64() }),
})

export const deepbookInnerSchema = bcs.struct('PoolInner', {
  ...{ allowedVersions: bcs.vector(bcs.u64()), poolId: bcs.Address, book },
  state: bcs.struct('State', { accounts: table, history, governance }),
  vault: bcs.struct('Vault', { base: bcs.u64(), quote: bcs.u64(), deep: bcs.u64() }),
  deepPrice: bcs.struct('DeepPrice', {
    ...{ base: bcs.vector(price), baseSum: bcs.u64(), quote: bcs.vector(price), quoteSum: bcs.u64() },
  }),
  isRegistered: bcs.bool(),
})
export type DeepbookInner = typeof deepbookInnerSchema.$inferType

const fieldOf = <N, V, NI, VI>(name: BcsType<N, NI>, value: BcsType<V, VI>) =>
  bcs.struct('Field', { id: bcs.Address, name, value })

export const deepbookInnerField = fieldOf(bcs.u64(), deepbookInnerSchema)

const orderSchema = bcs.struct('Order', {
  ...{ manager: bcs.Address, orderId: bcs.u128(), clientOrderId: bcs.u64(), quantity: bcs.u64(), filled: bcs.u64() },
  isFeeInDeep: bcs.bool(),
  deepPrice: bcs.struct('OrderDeepPrice', { assetIsBase: bcs.bool(), deepPerAsset: bcs.u64() }),
  ...{ epoch: bcs.u64(), status: bcs.u8(), expiresAtMs: bcs.u64() },
})
export type DeepbookOrderObject = typeof orderSchema.$inferType

/** A leaf of a book. */
export const deepbookSliceSchema = bcs.struct('Slice', {
  ...{ prev: bcs.u64(), next: bcs.u64(), keys: bcs.vector(bcs.u128()), values: bcs.vector(orderSchema) },
})
const sliceField = fieldOf(bcs.u64(), deepbookSliceSchema)
/** A node above the leaves. */
export const deepbookBranchSchema = bcs.struct('Slice', {
  ...{ prev: bcs.u64(), next: bcs.u64(), keys: bcs.vector(bcs.u128()), values: bcs.vector(bcs.u64()) },
})

export const deepbookAccountSchema = bcs.struct('Account', {
  ...{ epoch: bcs.u64(), openOrders: bcs.vector(bcs.u128()), takerVolume: bcs.u128(), makerVolume: bcs.u128() },
  ...{ activeStake: bcs.u64(), inactiveStake: bcs.u64(), hasProposal: bcs.bool(), vote: bcs.option(bcs.Address) },
  ...{ rebates: balances, settled: balances, owed: balances },
})
export type DeepbookAccountObject = typeof deepbookAccountSchema.$inferType
export const deepbookAccountField = fieldOf(bcs.Address, deepbookAccountSchema)

export const deepbookGasPriceSchema = bcs.struct('EWMAState', {
  ...{ mean: bcs.u64(), variance: bcs.u64(), alpha: bcs.u64(), zScoreThreshold: bcs.u64() },
  ...{ additionalTakerFee: bcs.u64(), lastUpdatedMs: bcs.u64(), isEnabled: bcs.bool() },
})

export const deepbookGasPriceField = fieldOf(bcs.vector(bcs.u8()), deepbookGasPriceSchema)
/** The name under which a pool keeps the state of gas prices. */
export const DEEPBOOK_GAS_PRICE_NAME = {
  type: 'vector<u8>',
  bytes: bcs.vector(bcs.u8()).serialize(new TextEncoder().encode('ewma')).toBytes(),
} as const

const ASK = 1n << 127n
const PRICE_BITS = 64n

/** An order's id sorts it by price, then by age. */
export const deepbookOrderId = (isBid: boolean, price: bigint, sequence: bigint): bigint =>
  (isBid ? 0n : ASK) + (price << PRICE_BITS) + sequence

const priceOf = (orderId: bigint): bigint => (orderId & (ASK - 1n)) >> PRICE_BITS

const LEAF = /::big_vector::Slice<0x[0-9a-f]+::order::Order>>$/

type TreeNode = Readonly<{ type: string; contents: Uint8Array }>

/** The orders of a leaf. */
export const readDeepbookLeaf = (field: Uint8Array): readonly DeepbookOrderObject[] =>
  sliceField.parse(field).value.values

/** The orders of one side in matching order, from the nodes of its tree. */
export function readDeepbookOrders(
  nodes: readonly TreeNode[],
  isBid: boolean,
  readLeaf = ({ contents }: TreeNode) => readDeepbookLeaf(contents),
): readonly DeepbookOrderObject[] {
  const orders = nodes
    .filter(({ type }) => LEAF.test(type))
    .flatMap(readLeaf)
    .map((order) => ({ order, id: BigInt(order.orderId) }))
  const direction = isBid ? -1 : 1
  return orders.sort((a, b) => (a.id < b.id ? -direction : direction)).map(({ order }) => order)
}

export const toDeepbookOrder = ({ orderId, quantity, filled, expiresAtMs }: DeepbookOrderObject): DeepbookOrder => ({
  price: priceOf(BigInt(orderId)),
  remaining: BigInt(quantity) - BigInt(filled),
  expiresAtMs: BigInt(expiresAtMs),
})

/** The fees of an epoch: the first operation in it takes over what was voted for. */
export const deepbookFeesIn = ({ state }: DeepbookInner, epoch: bigint): typeof tradeParams.$inferType =>
  BigInt(state.governance.epoch) === epoch ? state.governance.tradeParams : state.governance.nextTradeParams

export const toGasPriceState = (state: typeof deepbookGasPriceSchema.$inferType): GasPriceState => ({
  ...{ mean: BigInt(state.mean), variance: BigInt(state.variance), alpha: BigInt(state.alpha) },
  zScoreThreshold: BigInt(state.zScoreThreshold),
  additionalTakerFee: BigInt(state.additionalTakerFee),
  ...{ lastUpdatedMs: BigInt(state.lastUpdatedMs), isEnabled: state.isEnabled },
})

/** The pool for the mathematics of swaps. `epoch` and `nowMs` are those of the transaction. */
export function toDeepbookState<O extends DeepbookOrder>(
  inner: DeepbookInner,
  {
    bids,
    asks,
    epoch,
    ...chain
  }: Pick<DeepbookState<O>, 'bids' | 'asks' | 'nowMs' | 'gasPricePenalty'> & Readonly<{ epoch: bigint }>,
): DeepbookState<O> {
  const { takerFee, stakeRequired } = deepbookFeesIn(inner, epoch)
  const pointsOf = (points: readonly (typeof price.$inferType)[]) =>
    points.map(({ rate, timestampMs }) => ({ rate: BigInt(rate), timestampMs: BigInt(timestampMs) }))
  const points = { base: pointsOf(inner.deepPrice.base), quote: pointsOf(inner.deepPrice.quote) }
  return {
    ...{ ...chain, bids, asks, takerFee: BigInt(takerFee), stakeRequired: BigInt(stakeRequired) },
    ...{ lotSize: BigInt(inner.book.lotSize), minSize: BigInt(inner.book.minSize) },
    isWhitelisted: inner.state.governance.isWhitelisted,
    deepPrice: points.base.length + points.quote.length === 0 ? null : meanDeepPrice(points),
  }
}
