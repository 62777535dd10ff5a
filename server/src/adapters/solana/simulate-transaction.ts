import { AppError } from '../../core/domain/errors.ts'
import { divideUp } from '../../lib/bigint.ts'
import { type Account, fieldsOf, listOf, type SolanaNode, slotOf, toAccount, toCount } from './nodes.ts'
import { TRANSACTION_BYTES_MAX } from './transaction.ts'
import { UNITS_MAX } from './unit-limit.ts'

/** Lamports of a transaction with one signature and without a priority fee: the least. */
export const SIGNATURE_FEE = 5_000n

/** Lamports of a transaction with so many compute units at most. */
export const networkFee = (unitPrice: bigint, units: number): bigint =>
  SIGNATURE_FEE + divideUp(BigInt(units) * unitPrice, 1_000_000n)

/** Lamports that a simulation with the most compute units pays; the limit that is built asks for less. */
export const simulatedFee = (unitPrice: bigint): bigint => networkFee(unitPrice, UNITS_MAX)

/** Throws NO_ROUTE for a transaction that is too large. */
export function requireSize(transaction: Buffer): void {
  if (transaction.length > TRANSACTION_BYTES_MAX)
    throw new AppError('NO_ROUTE', `the route needs a transaction of more than ${TRANSACTION_BYTES_MAX} bytes`)
}

export type SimulatedTransaction =
  | Readonly<{ slot: number; units: number; accounts: readonly (Account | null)[] }>
  /** The error of the transaction. */
  | Readonly<{ slot: number; failure: unknown }>

/** Runs an unsigned transaction on the newest confirmed state. Returns the accounts at the addresses after it. */
export async function simulateTransaction(
  node: SolanaNode,
  transaction: Buffer,
  addresses: readonly string[],
): Promise<SimulatedTransaction> {
  const reply = await node.ask('simulateTransaction', [
    transaction.toString('base64'),
    {
      ...{ encoding: 'base64', commitment: 'confirmed', sigVerify: false, replaceRecentBlockhash: true },
      accounts: { encoding: 'base64', addresses },
    },
  ])
  const value = fieldsOf(fieldsOf(reply)['value'])
  const slot = slotOf(reply)
  if (value['err'] !== null) return { slot, failure: value['err'] }
  return {
    ...{ slot, units: toCount(value['unitsConsumed']) },
    accounts: listOf(value['accounts']).map(toAccount),
  }
}
