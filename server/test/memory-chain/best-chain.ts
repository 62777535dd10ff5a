import type { BlockRef } from '../../src/core/ports/chain.ts'
import type { Transfer } from '../../src/exchange/ports/chain.ts'
import { assert, present } from '../../src/lib/assert.ts'
import { createBlock, genesisParent, type MemoryBlock, type PoolTransaction, type Receipt } from './block.ts'
import { createState } from './state.ts'

export type BestChain = ReturnType<typeof createBestChain>
export type BestChainOptions = Readonly<{ seed: string; startTime: number; blockTimeMs: number; baseFee: bigint }>

/** The blocks of the current best chain, and the balances and nonces that follow from them. */
export function createBestChain(options: BestChainOptions) {
  const { seed, startTime, blockTimeMs } = options
  const state = createState()
  const blocks: MemoryBlock[] = []
  const inclusions = new Map<string, MemoryBlock>()
  let { baseFee } = options
  let branch = 0

  const top = () => present(blocks.at(-1), 'the first block')
  const timeOf = (height: number) => startTime + Math.floor((height * blockTimeMs) / 1000)

  /** Executes the transactions in order. The caller passes executable transactions only. */
  function append(transactions: readonly PoolTransaction[]): MemoryBlock {
    const height = blocks.length
    const touched = new Set<string>()
    const receipts = new Map<string, Receipt>()
    for (const transaction of transactions) {
      receipts.set(transaction.hash, state.run(transaction, { height, baseFee, touched }))
    }
    const parentHash = blocks.at(-1)?.hash ?? genesisParent
    const parts = { height, parentHash, time: timeOf(height), seed, branch: `main ${branch}` }
    const block = createBlock({ ...parts, receipts, touched })
    for (const txHash of receipts.keys()) inclusions.set(txHash, block)
    blocks.push(block)
    return block
  }

  /** Removes the last `depth` blocks and returns their transactions, block by block. */
  function rollback(depth: number): readonly (readonly PoolTransaction[])[] {
    const orphaned = blocks.splice(blocks.length - depth)
    branch++
    for (const { height, touched, receipts } of orphaned) {
      state.rollback(touched, height)
      for (const txHash of receipts.keys()) inclusions.delete(txHash)
    }
    return orphaned.map(({ receipts }) => [...receipts.values()].map(({ transaction }) => transaction))
  }

  append([])
  return {
    append,
    rollback,
    head: (): BlockRef => ({ height: top().height, hash: top().hash }),
    block: (height: number): MemoryBlock | null => blocks[height] ?? null,
    slice: () => blocks.slice(),
    /** The block of the best chain that includes the transaction. */
    blockOf: (txHash: string): MemoryBlock | null => inclusions.get(txHash) ?? null,
    timeOf,
    seed,
    baseFee: () => baseFee,
    setBaseFee(wei: bigint) {
      assert(wei > 0n, 'a base fee is positive')
      baseFee = wei
    },
    balance: (address: string, contract: string | null, at = top().height) => state.balance(address, contract, at),
    nonce: (address: string, at = top().height) => state.nonce(address, at),
    snapshot: state.snapshot,
    transfersTo: (address: string): readonly Transfer[] =>
      blocks.flatMap(({ scanned }) => scanned.transfers.filter((transfer) => transfer.address === address)),
  }
}
