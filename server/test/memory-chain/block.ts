import { hash } from 'node:crypto'
import type { BlockRef } from '../../src/core/ports/chain.ts'
import type { ScannedBlock, Transfer } from '../../src/exchange/ports/chain.ts'
import type { Body } from './transaction.ts'

/** One transfer of an external transaction: the chain announces `units` and credits `deliveredUnits`. */
export type ExternalTransfer = Readonly<{
  address: string
  contract: string | null
  units: bigint
  deliveredUnits: bigint
}>

/** `signed`: from one of our wallets. `external`: from a test, which also decides whether it fails. */
export type PoolTransaction = Readonly<{ hash: string; sender: string; raw: string | null }> &
  (
    | Readonly<{ kind: 'signed'; body: Body }>
    | Readonly<{ kind: 'external'; payments: readonly ExternalTransfer[]; ok: boolean }>
  )

export type Receipt = Readonly<{
  transaction: PoolTransaction
  ok: boolean
  feeUnits: bigint
  transfers: readonly Transfer[]
  /** Units credited, by transfer identity. */
  deliveredUnits: ReadonlyMap<string, bigint>
}>

export type MemoryBlock = BlockRef &
  Readonly<{ scanned: ScannedBlock; receipts: ReadonlyMap<string, Receipt>; touched: ReadonlySet<string> }>

export const genesisParent = `0x${'0'.repeat(64)}`

/** The branch is part of the hash: blocks of two branches differ even with the same transactions. */
export function createBlock(
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

/** The transfers that a transaction announces. Identity: the hash for a first native transfer, else hash and index. */
export function announcedTransfers(transaction: PoolTransaction): readonly Transfer[] {
  const { hash: txHash, sender } = transaction
  const payments =
    transaction.kind === 'external' ? transaction.payments : [{ ...transaction.body, address: transaction.body.to }]
  return payments.map(({ address, contract, units }, index) => {
    const nativeIdentity = index === 0 ? txHash : `${txHash}:trace:${index}`
    return {
      identity: contract === null ? nativeIdentity : `${txHash}:${index}`,
      txHash,
      address,
      memo: null,
      contract,
      units,
      sender,
    }
  })
}

/** The block as a lying node reports it: all units multiplied by `factor`. */
export function inflateBlock(block: MemoryBlock, factor: bigint): MemoryBlock {
  const inflate = (transfers: readonly Transfer[]) =>
    transfers.map((transfer) => ({ ...transfer, units: transfer.units * factor }))
  const receipts = [...block.receipts].map(([txHash, receipt]) => {
    const deliveredUnits = new Map([...receipt.deliveredUnits].map(([identity, units]) => [identity, units * factor]))
    return [txHash, { ...receipt, transfers: inflate(receipt.transfers), deliveredUnits }] as const
  })
  const scanned = { ...block.scanned, transfers: inflate(block.scanned.transfers) }
  return { ...block, scanned, receipts: new Map(receipts) }
}
