import { computeBudgetProgram } from './program-address.ts'
import { networkFee } from './simulate-transaction.ts'
import type { Instruction } from './transaction.ts'
import { UNITS_MAX } from './unit-limit.ts'

/** SetComputeUnitLimit and SetComputeUnitPrice of the compute budget. */
const [LIMIT, PRICE] = [2, 3]
/** Compute units of an instruction where the transaction states no limit. */
const UNITS_PER_INSTRUCTION = 200_000

/** Lamports that a transaction with one signature pays to the network, by its limit and its price of compute units. */
export function statedFee(instructions: readonly Instruction[]): bigint {
  const budget = instructions.filter(({ program }) => program === computeBudgetProgram)
  const dataOf = (kind: number, bytes: number) => {
    const found = budget.find(({ data }) => data[0] === kind && data.length >= 1 + bytes)
    return found === undefined ? null : Buffer.from(found.data)
  }
  const [limit, price] = [dataOf(LIMIT, 4), dataOf(PRICE, 8)]
  const byDefault = UNITS_PER_INSTRUCTION * (instructions.length - budget.length)
  const units = Math.min(limit?.readUInt32LE(1) ?? byDefault, UNITS_MAX)
  return networkFee(price?.readBigUInt64LE(1) ?? 0n, units)
}
