import { hash } from 'node:crypto'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import type { Body } from './transaction.ts'

/** A payment from outside, or a line of one: `delivered` is what really arrives of the units that the chain announces. */
export type OutsidePay = Readonly<{ address: string; contract: string | null; units: bigint; delivered: bigint }>

/** Ours have a body; the outside world's say at once what they pay, and whether they will fail. */
export type PoolTransaction = Readonly<{ hash: string; sender: string; raw: string | null }> &
  (Readonly<{ kind: 'signed'; body: Body }> | Readonly<{ kind: 'outside'; pays: readonly OutsidePay[]; ok: boolean }>)

export type Receipt = Readonly<{
  transaction: PoolTransaction
  ok: boolean
  feeUnits: bigint
  transfers: readonly Transfer[]
  /** By identity. */
  delivered: ReadonlyMap<string, bigint>
}>

export type MemoryBlock = BlockRef &
  Readonly<{ scanned: ScannedBlock; receipts: ReadonlyMap<string, Receipt>; touched: ReadonlySet<string> }>

export const genesisParent = `0x${'0'.repeat(64)}`

/** Each branch hashes differently, even where it holds the same transactions. */
export function sealBlock(
  parts: Pick<ScannedBlock, 'height' | 'parentHash' | 'time'> &
    Readonly<{ seed: string; branch: string; receipts: ReadonlyMap<string, Receipt>; touched: ReadonlySet<string> }>,
): MemoryBlock {
  const { height, parentHash, time, seed, branch, receipts, touched } = parts
  const included = [...receipts.values()]
  const content = included.map(({ transaction }) => transaction.hash).join()
  const ref = { height, hash: `0x${hash('sha256', `${seed} ${branch} ${height} ${parentHash} ${content}`, 'hex')}` }
  const scanned: ScannedBlock = {
    ...ref,
    parentHash,
    time,
    transfers: included.flatMap(({ transfers }) => transfers),
    transactions: included.map(({ transaction }) => ({
      txHash: transaction.hash,
      sender: transaction.sender,
      nonce: transaction.kind === 'signed' ? transaction.body.nonce : 0,
      spends: [],
    })),
  }
  return { ...ref, scanned, receipts, touched }
}

/** What a transaction announces: the first native pay by its hash alone, others of one transaction by their place in it. */
export function announced(transaction: PoolTransaction): readonly Transfer[] {
  const { hash: txHash, sender } = transaction
  const pays =
    transaction.kind === 'outside' ? transaction.pays : [{ ...transaction.body, address: transaction.body.to }]
  return pays.map(({ address, contract, units }, place) => {
    const inner = place === 0 ? txHash : `${txHash}:trace:${place}`
    return {
      identity: contract === null ? inner : `${txHash}:${place}`,
      txHash,
      address,
      memo: null,
      contract,
      units,
      sender,
    }
  })
}

/** The block as a node tells it that makes every transfer so many times as large. */
export function inflatedBlock(block: MemoryBlock, times: bigint): MemoryBlock {
  const inflate = (transfers: readonly Transfer[]) =>
    transfers.map((transfer) => ({ ...transfer, units: transfer.units * times }))
  const receipts = [...block.receipts].map(([txHash, receipt]) => {
    const delivered = new Map([...receipt.delivered].map(([identity, units]) => [identity, units * times]))
    return [txHash, { ...receipt, transfers: inflate(receipt.transfers), delivered }] as const
  })
  const scanned = { ...block.scanned, transfers: inflate(block.scanned.transfers) }
  return { ...block, scanned, receipts: new Map(receipts) }
}
