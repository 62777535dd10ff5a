/* Creates a DeepBook v3 pool, and places the orders of its market makers. */

import type { OrderDeepPrice } from '@swapyard/lib/pools/sui/deepbook-fee.ts'
import {
  type BigVector,
  type DeepbookAccountObject,
  type DeepbookInner,
  type DeepbookOrderObject,
  deepbookOrderId,
  deepbookPoolSchema,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { DEEPBOOK_VERSION, readInner, writeAccount, writeInner } from './deepbook-state.ts'
import { writeOrders } from './deepbook-tree.ts'
import { deriveCreatedId } from './digests.ts'
import type { DynamicFields } from './field-store.ts'
import type { SuiNode } from './sui-node.ts'

/** Price: quote per base in base units, scaled by 10^9. Quantity: base units of base. */
export type MakerOrder = Readonly<{
  /** Id of a balance manager. */
  maker: string
  price: bigint
  quantity: bigint
  expiresAtMs?: bigint
}>
export type MakerOrders = Readonly<{ bids: readonly MakerOrder[]; asks: readonly MakerOrder[] }>

export type DeepbookPlan = Readonly<{
  address: string
  types: readonly [base: string, quote: string]
  /** Number of the pool; different pools have different numbers. */
  index: number
  tickSize: bigint
  lotSize: bigint
  minSize: bigint
  /** Of 10^9. */
  takerFee: bigint
  makerFee: bigint
  /** Null: fees are paid in the input only. */
  deepPrice: OrderDeepPrice | null
  /** A pool of DEEP itself. */
  isWhitelisted?: boolean
}>

/** Stands for the transactions that created the tables. */
const tableDigest = '3'.repeat(32)
const tablesPerPool = 5
const scale = 1_000_000_000n
const never = 2n ** 64n - 1n
const maxSliceSize = '64'
const maxFanOut = '64'
const firstBidSequence = 2n ** 64n - 1n
const firstAskSequence = 1n
const nothing = { base: '0', quote: '0', deep: '0' }

function createInner(plan: DeepbookPlan, poolId: string, tableIds: readonly string[]): DeepbookInner {
  const [bids = '', asks = '', accounts = '', historicVolumes = ''] = tableIds
  const fees = { takerFee: plan.takerFee.toString(), makerFee: plan.makerFee.toString(), stakeRequired: '100000000' }
  const tree = (id: string): BigVector => ({
    ...{ id, depth: 0, length: '0', maxSliceSize, maxFanOut, rootId: '0', lastId: '0' },
  })
  const { deepPrice, isWhitelisted = false } = plan
  const points = deepPrice === null ? [] : [{ rate: deepPrice.deepPerAsset.toString(), timestampMs: '0' }]
  const [basePoints, quotePoints] = deepPrice?.assetIsBase ? [points, []] : [[], points]
  const sumOf = ([point]: typeof points) => point?.rate ?? '0'
  return {
    ...{ allowedVersions: [DEEPBOOK_VERSION], poolId, isRegistered: true, vault: nothing },
    book: {
      ...{ tickSize: plan.tickSize.toString(), lotSize: plan.lotSize.toString(), minSize: plan.minSize.toString() },
      ...{ bids: tree(bids), asks: tree(asks) },
      ...{ nextBidOrderId: firstBidSequence.toString(), nextAskOrderId: firstAskSequence.toString() },
    },
    state: {
      accounts: { id: accounts, size: '0' },
      history: {
        ...{ epoch: '0', epochCreated: '0', historicVolumes: { id: historicVolumes, size: '0' }, balanceToBurn: '0' },
        volumes: { total: '0', totalStaked: '0', fees: nothing, historicMedian: '0', tradeParams: fees },
      },
      governance: {
        ...{ epoch: '0', isWhitelisted, isStable: false, proposals: [], votingPower: '0', quorum: '0' },
        ...{ tradeParams: fees, nextTradeParams: fees },
      },
    },
    deepPrice: {
      ...{ base: basePoints, baseSum: sumOf(basePoints), quote: quotePoints, quoteSum: sumOf(quotePoints) },
    },
  }
}

/** Returns the id of the pool, whose book is empty. */
export function createDeepbookPool(node: SuiNode, plan: DeepbookPlan): string {
  const { address, types, index } = plan
  const [innerId = '', ...tableIds] = Array.from({ length: tablesPerPool }, (_, n) =>
    deriveCreatedId(tableDigest, tablesPerPool * index + n),
  )
  const encode = (id: string) =>
    deepbookPoolSchema.serialize({ id, inner: { id: innerId, version: DEEPBOOK_VERSION } }).toBytes()
  const type = `${address}::pool::Pool<${types.join(', ')}>`
  const shared = { kind: 'shared', initialVersion: 1n } as const
  const { id, contents } = node.createObject({ type, owner: shared, hasPublicTransfer: false }, encode)
  node.changeFields(id, (fields) =>
    writeInner(fields, deepbookPoolSchema.parse(contents), plan, createInner(plan, id, tableIds)),
  )
  return id
}

function createOrders(orders: readonly MakerOrder[], isBid: boolean, first: bigint): readonly DeepbookOrderObject[] {
  return orders.map(({ maker, price, quantity, expiresAtMs = never }, n) => ({
    ...{ manager: maker, clientOrderId: '0', quantity: quantity.toString(), filled: '0', isFeeInDeep: false },
    orderId: deepbookOrderId(isBid, price, isBid ? first - BigInt(n) : first + BigInt(n)).toString(),
    deepPrice: { assetIsBase: false, deepPerAsset: '0' },
    ...{ epoch: '0', status: 0, expiresAtMs: expiresAtMs.toString() },
  }))
}

function accountsOf(orders: readonly DeepbookOrderObject[]): ReadonlyMap<string, DeepbookAccountObject> {
  const accounts = new Map<string, DeepbookAccountObject>()
  for (const { manager, orderId } of orders) {
    const openOrders = [...(accounts.get(manager)?.openOrders ?? []), orderId]
    accounts.set(manager, {
      ...{ epoch: '0', openOrders, takerVolume: '0', makerVolume: '0', activeStake: '0', inactiveStake: '0' },
      ...{ hasProposal: false, vote: null, rebates: nothing, settled: nothing, owed: nothing },
    })
  }
  return accounts
}

function replaceOrders(fields: DynamicFields, contents: Uint8Array, plan: DeepbookPlan, orders: MakerOrders): void {
  const pool = deepbookPoolSchema.parse(contents)
  const inner = readInner(fields, pool)
  const { book, state } = inner
  const bids = createOrders(orders.bids, true, BigInt(book.nextBidOrderId))
  const asks = createOrders(orders.asks, false, BigInt(book.nextAskOrderId))
  const accounts = accountsOf([...bids, ...asks])
  for (const entry of accounts) writeAccount(fields, inner, plan.address, entry)
  const locked = {
    base: orders.asks.reduce((sum, { quantity }) => sum + quantity, 0n),
    quote: orders.bids.reduce((sum, { price, quantity }) => sum + (price * quantity) / scale, 0n),
  }
  writeInner(fields, pool, plan, {
    ...inner,
    book: {
      ...book,
      bids: writeOrders(fields, plan.address, book.bids, bids),
      asks: writeOrders(fields, plan.address, book.asks, asks),
      nextBidOrderId: (BigInt(book.nextBidOrderId) - BigInt(bids.length)).toString(),
      nextAskOrderId: (BigInt(book.nextAskOrderId) + BigInt(asks.length)).toString(),
    },
    state: { ...state, accounts: { ...state.accounts, size: accounts.size.toString() } },
    vault: { base: locked.base.toString(), quote: locked.quote.toString(), deep: inner.vault.deep },
  })
}

/** The market makers withdraw what they have earned, cancel their orders and place new ones, without transactions. */
export function setMakerOrders(node: SuiNode, poolId: string, plan: DeepbookPlan, orders: MakerOrders): void {
  node.changeFields(poolId, (fields, contents) => replaceOrders(fields, contents, plan, orders))
}
