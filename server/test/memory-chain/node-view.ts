import { present } from '../../src/lib/assert.ts'
import type { BestChain } from './best-chain.ts'
import { createBlock, type MemoryBlock } from './block.ts'

/** The branch that one node follows. */
export type View = Readonly<{
  top(): MemoryBlock
  block(height: number): MemoryBlock | null
  blockOf(txHash: string): MemoryBlock | null
  balance(address: string, contract: string | null): bigint
  nonce(address: string): number
  baseFee(): bigint
  /** Called for each block of the best chain; a fork adds an empty block of its own. */
  extend(): void
}>

/** The best chain without its last `lag` blocks. */
export function followBest(best: BestChain, lag: number): View {
  const height = () => Math.max(0, best.head().height - lag)
  const block = (at: number) => (at <= height() ? best.block(at) : null)
  return {
    top: () => present(best.block(height()), 'the newest block'),
    block,
    blockOf(txHash) {
      const including = best.blockOf(txHash)
      return including !== null && including.height <= height() ? including : null
    },
    balance: (address, contract) => best.balance(address, contract, height()),
    nonce: (address) => best.nonce(address, height()),
    baseFee: best.baseFee,
    extend: () => undefined,
  }
}

/** A fork: the current blocks, then empty blocks of its own. Reorganisations of the best chain do not change it. */
export function forkFrom(best: BestChain, name: string): View {
  const blocks = best.slice()
  const state = best.snapshot()
  const inclusions = new Map(
    blocks.flatMap((block) => [...block.receipts.keys()].map((txHash) => [txHash, block] as const)),
  )
  const top = () => present(blocks.at(-1), 'the newest block')
  return {
    top,
    block: (height) => blocks[height] ?? null,
    blockOf: (txHash) => inclusions.get(txHash) ?? null,
    balance: state.balance,
    nonce: state.nonce,
    baseFee: best.baseFee,
    extend() {
      const { height, hash: parentHash } = top()
      const { seed, timeOf } = best
      blocks.push(
        createBlock({
          height: height + 1,
          parentHash,
          time: timeOf(height + 1),
          seed,
          branch: `fork ${name}`,
          receipts: new Map(),
          touched: new Set(),
        }),
      )
    },
  }
}
