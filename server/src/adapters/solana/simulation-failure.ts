import { fieldsOf, listOf } from './nodes.ts'
import { raydiumCpmmProgram } from './raydium-cpmm.ts'
import type { Instruction } from './transaction.ts'

/** Instructions that precede the body of a transaction: the compute budget. */
const BUDGET_INSTRUCTIONS = 2
/** ExceededSlippage of Raydium CPMM. */
const EXCEEDED_SLIPPAGE = 6005
const cpmmErrors: Readonly<Record<number, string>> = {
  6000: 'the pool is not open for swaps',
  6005: 'the pool pays less than the minimum',
}

/** The runtime's error in words. */
export function describeFailure(
  failure: unknown,
  body: readonly Instruction[],
): Readonly<{ reason: string; isBelowMinimum: boolean }> {
  const [index, inner] = listOf(fieldsOf(failure)['InstructionError'])
  const custom = fieldsOf(inner)['Custom']
  const program = typeof index === 'number' ? body[index - BUDGET_INSTRUCTIONS]?.program : undefined
  if (program === raydiumCpmmProgram && typeof custom === 'number')
    return {
      reason: cpmmErrors[custom] ?? `Raydium CPMM refuses it with the error ${custom}`,
      isBelowMinimum: custom === EXCEEDED_SLIPPAGE,
    }
  const text = typeof failure === 'string' ? failure : JSON.stringify(failure)
  return { reason: text.slice(0, 200), isBelowMinimum: false }
}
