import { dexOfProgram } from './dexes/dexes.ts'
import { fieldsOf, listOf } from './nodes.ts'
import type { Instruction } from './transaction.ts'

/** Instructions that precede the body of a transaction: the compute budget. */
const BUDGET_INSTRUCTIONS = 2

/** The runtime's error in words. */
export function describeFailure(
  failure: unknown,
  body: readonly Instruction[],
): Readonly<{ reason: string; isBelowMinimum: boolean }> {
  if (fieldsOf(failure)['InsufficientFundsForRent'] !== undefined)
    return { reason: 'an account would hold less than the least balance of an account', isBelowMinimum: false }
  const [index, inner] = listOf(fieldsOf(failure)['InstructionError'])
  const code = fieldsOf(inner)['Custom']
  const program = typeof index === 'number' ? body[index - BUDGET_INSTRUCTIONS]?.program : undefined
  const dex = program === undefined ? undefined : dexOfProgram(program)
  if (dex === undefined || typeof code !== 'number') {
    const text = typeof failure === 'string' ? failure : JSON.stringify(failure)
    return { reason: text.slice(0, 200), isBelowMinimum: false }
  }
  if (dex.belowMinimum.includes(code)) return { reason: 'the pool pays less than the minimum', isBelowMinimum: true }
  return { reason: dex.errors[code] ?? `${dex.title} refuses it with the error ${code}`, isBelowMinimum: false }
}
