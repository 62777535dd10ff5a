import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader } from '../../../exchange/ports/chain.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { type EvmNode, ethCall, hex } from './node.ts'
import { blockHash, orNull, quantity, type ReceiptReply, receipt } from './replies.ts'
import { refusalOf, unavailable } from './rpc.ts'
import { type Movement, identifyTransferLogs, type BlockMovements, readBlock, type ScanOptions } from './scan.ts'
import { balanceCall, eventOf } from './token.ts'

export type Claim = Parameters<ChainReader['receivedUnits']>[0]

/**
 * What one node says that the address received by this transfer: read anew, by the block's hash, and believed only as
 * far as the balance rose. A node that is not on the block throws: its silence is no proof that nothing came.
 */
export async function readReceived(node: EvmNode, claim: Claim, block: BlockRef, options: ScanOptions): Promise<bigint> {
  const [own, units] = await readClaim(node, claim, block, options)
  // Asked last: what was read by height in between was read on this very block.
  const hashNow = await node.ask('eth_getBlockByNumber', [hex(block.height), false], orNull(blockHash))
  if (hashNow !== block.hash) throw notOnBlock(node, block)
  return own === null ? 0n : largest(0n, smallest(units, claim.units))
}

async function readClaim(
  node: EvmNode,
  claim: Claim,
  block: BlockRef,
  options: ScanOptions,
): Promise<readonly [Movement | null, bigint]> {
  const [receiptNow, read] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [claim.txHash], orNull(receipt)),
    readBlock(node, block.hash, options),
  ])
  if (read?.height !== block.height || receiptNow?.blockHash !== block.hash) throw notOnBlock(node, block)
  const own = receiptNow.ok ? findMovement(claim, read, receiptNow, options.nativeContract) : null
  if (own === null) return [null, 0n]
  const rose = await balanceRise(node, own, read, options)
  if (rose === null) return [own, await currentAtMost(node, own)]

  // All that came in by events of this block shares what the balance really gained: fees taken in transit, lying
  // tokens and shrinking balances lower every share, and the shares never add up to more than was received.
  const incoming = sum(read.movements.filter((one) => one.address === own.address && one.contract === own.contract))
  const gained = rose + (await spent(node, own, read))
  return [own, incoming > gained ? (own.units * gained) / incoming : own.units]
}

function notOnBlock(node: EvmNode, block: BlockRef): Error {
  return unavailable(`${node.name} is not on block ${block.height} ${block.hash}`)
}

/** The claimed transfer in this node's own reading; for tokens it must stand in the receipt too. */
function findMovement(
  claim: Claim,
  read: BlockMovements,
  { logs }: ReceiptReply,
  nativeContract: string | null,
): Movement | null {
  const own = read.movements.find(({ identity }) => identity === claim.identity)
  // A move within a transaction, on a node without traces: the balance alone has to show it.
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

/** How much the balance grew over the block, or null where the node no longer has that state. */
async function balanceRise(
  node: EvmNode,
  own: Movement,
  read: BlockMovements,
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

/** Weaker: the receipt stands, and the address holds at least so much now. */
async function currentAtMost(node: EvmNode, own: Movement): Promise<bigint> {
  const now = await balanceAt(node, own.address, own.contract, 'latest')
  return smallest(now, own.units)
}

/** What left the address in the block: sweeps of ours, which hide what came in from the balance difference. */
async function spent(node: EvmNode, own: Movement, read: BlockMovements): Promise<bigint> {
  const left = sum(read.movements.filter((one) => one.from === own.address && one.contract === own.contract))
  if (own.contract !== null) return left
  const sent = read.transactions.filter((tx) => tx.from === own.address)
  const receipts = await node.askMany(
    sent.map((tx) => ({ method: 'eth_getTransactionReceipt', params: [tx.hash] })),
    receipt,
  )
  return left + receipts.reduce((total, entry) => total + feeOf(entry), 0n)
}

/** What the network took for a transaction. */
export function feeOf({ gasUsed, gasPrice, l1Fee }: ReceiptReply): bigint {
  return gasUsed * gasPrice + l1Fee
}

/** Units of the coin or a token at a block. A contract that answers with anything but one word holds nothing for us. */
export async function balanceAt(node: EvmNode, address: string, contract: string | null, at: string): Promise<bigint> {
  if (contract === null) return node.ask('eth_getBalance', [address, at], quantity)
  const word = await ethCall(node, { to: contract, data: balanceCall(address) }, at)
  return word.length === 66 ? BigInt(word) : 0n
}

function sum(movements: readonly Movement[]): bigint {
  return movements.reduce((total, { units }) => total + units, 0n)
}
