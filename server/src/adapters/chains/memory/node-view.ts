import { present } from '../../../lib/assert.ts'
import type { BestChain } from './best-chain.ts'
import { type MemoryBlock, sealBlock } from './block.ts'

/** The chain that a node takes for the best. */
export type View = Readonly<{
  top(): MemoryBlock
  block(height: number): MemoryBlock | null
  including(txHash: string): MemoryBlock | null
  balance(address: string, contract: string | null): bigint
  nonce(address: string): number
  baseFee(): bigint
  /** The others mined a block. */
  grow(): void
}>

/** The best chain, or what it was `lag` blocks ago. */
export function followBest(best: BestChain, lag: number): View {
  const height = () => Math.max(0, best.head().height - lag)
  const block = (at: number) => (at <= height() ? best.block(at) : null)
  return {
    top: () => present(best.block(height()), 'the newest block'),
    block,
    including(txHash) {
      const found = best.including(txHash)
      return found !== null && found.height <= height() ? found : null
    },
    balance: (address, contract) => best.balance(address, contract, height()),
    nonce: (address) => best.nonce(address, height()),
    baseFee: best.baseFee,
    grow: () => undefined,
  }
}

/** The blocks that there are now and empty ones after them: whatever the best chain becomes, this one stays. */
export function branchOf(best: BestChain, name: string): View {
  const blocks = best.slice()
  const state = best.freeze()
  const inclusions = new Map(
    blocks.flatMap((block) => [...block.receipts.keys()].map((txHash) => [txHash, block] as const)),
  )
  const top = () => present(blocks.at(-1), 'the newest block')
  return {
    top,
    block: (height) => blocks[height] ?? null,
    including: (txHash) => inclusions.get(txHash) ?? null,
    balance: state.balance,
    nonce: state.nonce,
    baseFee: best.baseFee,
    grow() {
      const { height, hash: parentHash } = top()
      const { seed, timeOf } = best
      blocks.push(
        sealBlock({
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
