import type { SwapOrder } from '../../swap/ports/swap-chain.ts'
import { aggregatorAccounts, aggregatorInstructions, aggregatorMemo } from './aggregator-swap.ts'
import { accountsOf, memoOf, type SwapAccounts, swapInstructions } from './swap-instructions.ts'
import type { Instruction, LookupTable } from './transaction.ts'

/** What a transaction does for an order, by our own route or by an aggregator's instruction. */
export type SwapPlan = Readonly<{
  accounts: SwapAccounts
  /** Everything but the memo and the compute budget. */
  body: readonly Instruction[]
  /** The body without a minimum; null if it has no such form. */
  unlimited: readonly Instruction[] | null
  memo: Instruction
  /** Accounts whose writes set the priority fee. */
  written: readonly string[]
  tables: readonly LookupTable[]
  /** Token accounts of the user that must be as before, except for their balance. */
  unchanged: readonly string[]
}>

type Order = Omit<SwapOrder, 'ref'>

export function bodyOf(order: Order): readonly Instruction[] {
  const { aggregatorCall } = order
  return aggregatorCall !== undefined && 'instruction' in aggregatorCall
    ? aggregatorInstructions(order, aggregatorCall)
    : swapInstructions(order)
}

export function planSwap(order: SwapOrder): SwapPlan {
  const { aggregatorCall: call, swaps } = order
  const body = bodyOf(order)
  if (call === undefined || !('instruction' in call))
    return {
      ...{ accounts: accountsOf(order), body, unlimited: swapInstructions(order, 0n) },
      ...{ memo: memoOf(order.ref, order.feePpm), written: swaps.map(({ pool }) => pool.address) },
      ...{ tables: [], unchanged: [] },
    }
  const { source, target, others, instruction } = call
  const written = instruction.accounts.filter(({ isWritable, isSigner }) => isWritable && !isSigner)
  return {
    ...{ accounts: aggregatorAccounts(order, call), body, unlimited: null, memo: aggregatorMemo(order) },
    ...{ written: written.map(({ address }) => address), tables: call.tables },
    unchanged: [source, target, ...others].filter(({ held }) => held !== null).map(({ address }) => address),
  }
}
