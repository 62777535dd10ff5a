import { bcs } from '@mysten/sui/bcs'
import { deriveDynamicFieldID } from '@mysten/sui/utils'
import { addGasPrice, gasPricePenalty } from '@swapyard/lib/pools/sui/deepbook-gas-penalty.ts'
import {
  DEEPBOOK_GAS_PRICE_NAME,
  type DeepbookInner,
  deepbookGasPriceField,
  deepbookInnerField,
  deepbookPoolSchema,
  readDeepbookLeaf,
  readDeepbookOrders,
  toDeepbookOrder,
  toDeepbookState,
  toGasPriceState,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { type PoolNode, type PoolRead, type PoolReader, parseOnce, readTypeArguments } from './read-pools.ts'

const readLeaf = parseOnce(readDeepbookLeaf)
const unreadable = { pool: null, validUntilMs: Number.POSITIVE_INFINITY }

/** The first swap of an epoch computes its quantity with the old fee and pays the new one, if they differ. */
function isFeeCertain({ state }: DeepbookInner, epoch: number): boolean {
  const { epoch: feeEpoch, tradeParams, nextTradeParams } = state.governance
  return Number(feeEpoch) === epoch || tradeParams.takerFee === nextTradeParams.takerFee
}

/** What the pool adds to the fee for a gas price far above the mean. */
async function readPenalty({ node, tip, gasPrice }: PoolRead, pool: string): Promise<bigint> {
  const { type, bytes } = DEEPBOOK_GAS_PRICE_NAME
  const [field] = await node.readObjects([deriveDynamicFieldID(pool, type, bytes)])
  if (!field) return 0n
  const state = toGasPriceState(deepbookGasPriceField.parse(field.contents).value)
  return gasPricePenalty(addGasPrice(state, gasPrice, BigInt(tip.atMs)), gasPrice)
}

/** The version that a package tells pools; each upgrade has another. Null: the package has none. A package never changes. */
function createPackageVersions() {
  const known = new Map<string, bigint | null>()
  return async (node: PoolNode, address: string): Promise<bigint | null> => {
    const before = known.get(address)
    if (before !== undefined) return before
    const bytes = await node.callFunction(`${address}::constants::current_version`)
    const version = bytes === null ? null : BigInt(bcs.u64().parse(bytes))
    known.set(address, version)
    return version
  }
}

/** A pool aborts every call by a version that it does not allow. */
function faultOf({ allowedVersions }: DeepbookInner, version: bigint | null, address: string): string | null {
  if (version !== null && allowedVersions.includes(version.toString())) return null
  return `the pools allow calls by the versions ${allowedVersions.join(', ')} of the package; ${address} is ${version === null ? 'no package of DeepBook' : `version ${version}`}`
}

/** The whole book. Its state is in a field of the pool's object, its orders are in trees of fields. */
export function createDeepbookReader(): PoolReader {
  const readVersion = createPackageVersions()
  return async (read, object) => readDeepbookPool(read, object, await readVersion(read.node, read.dex.factory))
}

async function readDeepbookPool(
  read: PoolRead,
  object: Parameters<PoolReader>[1],
  version: bigint | null,
): ReturnType<PoolReader> {
  const { node, dex, tip } = read
  const types = readTypeArguments(object)
  if (types === null || dex.feeCoin === undefined) return unreadable
  const { inner } = deepbookPoolSchema.parse(object.contents)
  const name = bcs.u64().serialize(inner.version).toBytes()
  const [field] = await node.readObjects([deriveDynamicFieldID(inner.id, 'u64', name)])
  if (!field) return unreadable
  const state = deepbookInnerField.parse(field.contents).value
  const fault = faultOf(state, version, dex.factory)
  if (fault !== null) return { ...unreadable, fault }
  if (!isFeeCertain(state, tip.epoch)) return unreadable
  const { bids: bidTree, asks: askTree } = state.book
  const [bids, asks, penalty] = await Promise.all([
    node.listFields(bidTree.id).then((nodes) => readDeepbookOrders(nodes, true, readLeaf).map(toDeepbookOrder)),
    node.listFields(askTree.id).then((nodes) => readDeepbookOrders(nodes, false, readLeaf).map(toDeepbookOrder)),
    readPenalty(read, object.id),
  ])
  const nowMs = BigInt(tip.atMs)
  const expiries = [...bids, ...asks].map(({ expiresAtMs }) => expiresAtMs).filter((time) => time >= nowMs)
  const pool = {
    ...({ kind: 'deepbook', id: object.id, address: object.id, dex: dex.name, tokens: types.tokens } as const),
    ...{ package: dex.factory, feeCoin: dex.feeCoin, objectVersion: object.version },
    ...toDeepbookState(state, { bids, asks, epoch: BigInt(tip.epoch), nowMs, gasPricePenalty: penalty }),
  }
  return {
    pool,
    validUntilMs: expiries.reduce((first, time) => Math.min(first, Number(time)), Number.POSITIVE_INFINITY),
  }
}
