import type { SwapAction } from '../../swap/ports/swap-chain.ts'
import { readAggregatorAction } from './aggregator-swap.ts'
import { readSwapAction } from './swap-instructions.ts'
import type { Instruction } from './transaction.ts'

/** The swap of a transaction, by our own route or by an aggregator; null if it has none. */
export const readAction = (signer: string, instructions: readonly Instruction[]): SwapAction | null =>
  readAggregatorAction(signer, instructions) ?? readSwapAction(signer, instructions)
