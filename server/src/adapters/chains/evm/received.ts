import { sumUnits } from '../../../core/domain/amount.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader } from '../../../exchange/ports/chain.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { createTtlCache, type TtlCache } from '../../../lib/ttl-cache.ts'
import { type EvmNode, ethCall, hex } from './node.ts'
import { blockHash, orNull, quantity, type ReceiptReply, receipt } from './replies.ts'
import { refusalOf, unavailable } from './rpc.ts'
import { identifyTransferLogs, type Movement, readBlock, type ScanOptions } from './scan.ts'
import { balanceCall, eventOf } from './token.ts'

/** The transfer whose received units are verified. */
export type Claim = Parameters<ChainReader['receivedUnits']>[0]
type ReadHeldUnits = Parameters<ChainReader['receivedUnits']>[2]

/** What the check of a transfer needs of its block. */
type ClaimBlock = Readonly<{
  height: number
  isTraced: boolean
  movements: readonly Movement[]
  transactions: readonly Readonly<{ hash: string; from: string }>[]
}>

/** Reads a node's block by hash; null if the node does not have it. */
type ReadByHash = (node: EvmNode, hash: string) => Promise<ClaimBlock | null>
type Options = ScanOptions & Readonly<{ readByHash: ReadByHash; readHeldUnits: ReadHeldUnits }>

/** Blocks of each node in memory: their deposits are checked at about the same time. */
const SHARED_BLOCKS = 8
/** A block that was read without traces is read again after this time. */
const SHARED_MS = 60_000

/**
 * The units that the address received by a transfer, according to one node. Reads the block again by its hash and limits
 * the units to the rise of the balance. Throws if the node does not have the block, because that proves nothing.
 */
export function createReceivedReader(options: ScanOptions) {
  const readByHash = shareBlocks(options)
  return (node: EvmNode, claim: Claim, block: BlockRef, readHeldUnits: ReadHeldUnits) =>
    readReceived(node, claim, block, { ...options, readByHash, readHeldUnits })
}

/**
 * All deposits of one block share one read per node, because a block of many deposits would be read once for each. A hash
 * names one content for ever; the caller checks that the block is still on the node's chain.
 */
function shareBlocks(options: ScanOptions): ReadByHash {
  const reads = new WeakMap<EvmNode, TtlCache<string, Promise<ClaimBlock | null>>>()
  return (node, hash) => {
    const ofNode = reads.get(node) ?? createTtlCache({ max: SHARED_BLOCKS, ttlMs: SHARED_MS, now: Date.now })
    reads.set(node, ofNode)
    const running = ofNode.get(hash)
    if (running) return running
    const read = readClaimBlock(node, hash, options)
    ofNode.set(hash, read)
    const forget = () => {
      if (ofNode.get(hash) === read) ofNode.delete(hash)
    }
    // The callers see the failure.
    read.then((block) => block ?? forget(), forget)
    return read
  }
}

async function readClaimBlock(node: EvmNode, hash: string, options: ScanOptions): Promise<ClaimBlock | null> {
  const read = await readBlock(node, hash, options)
  if (read === null) return null
  const { height, isTraced, movements } = read
  // Without the calldata, which is most of a block.
  return { height, isTraced, movements, transactions: read.transactions.map(({ hash, from }) => ({ hash, from })) }
}

async function readReceived(node: EvmNode, claim: Claim, block: BlockRef, options: Options): Promise<bigint> {
  const [own, units] = await readClaim(node, claim, block, options)
  // Read last: proves that the calls by height above have read this block.
  const hashNow = await node.ask('eth_getBlockByNumber', [hex(block.height), false], orNull(blockHash))
  if (hashNow !== block.hash) throw notOnBlock(node, block)
  return own === null ? 0n : largest(0n, smallest(units, claim.units))
}

async function readClaim(
  node: EvmNode,
  claim: Claim,
  block: BlockRef,
  options: Options,
): Promise<readonly [Movement | null, bigint]> {
  const [receiptNow, read] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [claim.txHash], orNull(receipt)),
    options.readByHash(node, block.hash),
  ])
  if (read?.height !== block.height || receiptNow?.blockHash !== block.hash) throw notOnBlock(node, block)
  const own = receiptNow.ok ? findMovement(claim, read, receiptNow, options.nativeContract) : null
  if (own === null) return [null, 0n]
  const rise = await readBalanceRise(node, own, read, options)
  if (rise === null) return [own, await limitByCurrentBalance(node, own, options.readHeldUnits)]

  // The transfers to the address in this block share the real gain of its balance in proportion. Transfer fees, false
  // events and shrinking balances reduce each share; the shares never exceed the gain.
  const incoming = sumUnits(
    read.movements.filter((one) => one.address === own.address && one.contract === own.contract),
  )
  const gain = rise + (await readOutflow(node, own, read))
  return [own, incoming > gain ? (own.units * gain) / incoming : own.units]
}

function notOnBlock(node: EvmNode, block: BlockRef): Error {
  return unavailable(`${node.name} is not on block ${block.height} ${block.hash}`)
}

/** The claimed transfer in this node's block; a token transfer must also be in the receipt's logs. */
function findMovement(
  claim: Claim,
  read: ClaimBlock,
  { logs }: ReceiptReply,
  nativeContract: string | null,
): Movement | null {
  const own = read.movements.find(({ identity }) => identity === claim.identity)
  // An internal transfer on a node without traces: only the balance can confirm it.
  if (own === undefined && !read.isTraced && claim.contract === null && claim.identity.includes(':trace:')) {
    return { ...claim, from: '', memo: null, sender: null }
  }
  if (own?.address !== claim.address || own.contract !== claim.contract || own.txHash !== claim.txHash) return null
  if (own.identity === own.txHash || own.identity.includes(':trace:')) return own
  const entry = identifyTransferLogs(logs).find(([identity]) => identity === claim.identity)?.[1]
  const event = entry === undefined ? null : eventOf(entry)
  const contract = entry?.address === nativeContract ? null : (entry?.address ?? null)
  return event?.to === own.address && event.units === own.units && contract === own.contract ? own : null
}

/** The rise of the balance over the block; null if the node has pruned the state. */
async function readBalanceRise(
  node: EvmNode,
  own: Movement,
  read: ClaimBlock,
  { note }: ScanOptions,
): Promise<bigint | null> {
  try {
    const [before, after] = await Promise.all([
      balanceAt(node, own.address, own.contract, hex(read.height - 1)),
      balanceAt(node, own.address, own.contract, hex(read.height)),
    ])
    return after - before
  } catch (error) {
    if (refusalOf(error) === null) throw error
    note({ kind: 'state-pruned', node: node.name, detail: `balances at block ${read.height}` })
    return null
  }
}

/**
 * Without the block's state: the transferred units, limited to what the address holds now beyond its other deposits, so that fees on
 * transfers cannot make deposits together count for more than arrived (D17). A weaker check. No transfer of the native coin takes a fee.
 */
async function limitByCurrentBalance(node: EvmNode, own: Movement, readHeldUnits: ReadHeldUnits): Promise<bigint> {
  // Before the balance: a sweep in between makes the other deposits stale, which the caller notices.
  const held = own.contract === null ? 0n : ((await readHeldUnits?.()) ?? 0n)
  const balance = await balanceAt(node, own.address, own.contract, 'latest')
  return smallest(balance - held, own.units)
}

/** The units that left the address in the block, such as our sweeps. They reduce the rise of the balance. */
async function readOutflow(node: EvmNode, own: Movement, read: ClaimBlock): Promise<bigint> {
  const transferred = sumUnits(
    read.movements.filter((one) => one.from === own.address && one.contract === own.contract),
  )
  if (own.contract !== null) return transferred
  const sent = read.transactions.filter((tx) => tx.from === own.address)
  const receipts = await node.askMany(
    sent.map((tx) => ({ method: 'eth_getTransactionReceipt', params: [tx.hash] })),
    receipt,
  )
  return transferred + receipts.reduce((total, entry) => total + feeOf(entry), 0n)
}

/** The parts of the fee that the sender paid, in wei. A part is 0 where the receipt lacks its fields. */
const FEE_PARTS: readonly ((receipt: ReceiptReply) => bigint)[] = [
  ({ gasUsed, gasPrice }) => gasUsed * gasPrice,
  ({ l1Fee }) => l1Fee,
  ({ operatorFee }) => operatorFee,
]

/** The fee that the sender paid, in wei. */
export const feeOf = (entry: ReceiptReply): bigint => FEE_PARTS.reduce((total, part) => total + part(entry), 0n)

/**
 * The fee of a transaction by the receipts of all nodes, in wei; null if they differ. Where a receipt lacks a part of the fee,
 * the others decide, so that a node without these fields does not block payouts for ever.
 */
export function findAgreedFee(receipts: readonly ReceiptReply[]): bigint | null {
  let total = 0n
  for (const part of FEE_PARTS) {
    const [units = 0n, ...others] = new Set(receipts.map(part).filter((one) => one !== 0n))
    if (others.length > 0) return null
    total += units
  }
  return total
}

/** Native or token balance at a block. 0 if the contract does not return exactly one word. */
export async function balanceAt(node: EvmNode, address: string, contract: string | null, at: string): Promise<bigint> {
  if (contract === null) return node.ask('eth_getBalance', [address, at], quantity)
  const word = await ethCall(node, { to: contract, data: balanceCall(address) }, at)
  return word.length === 66 ? BigInt(word) : 0n
}
