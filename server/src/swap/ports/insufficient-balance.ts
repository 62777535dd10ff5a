import { formatUnits } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'

/** In base units of the token to swap, or of the native coin with the cost of the transaction. */
export type Shortage = Readonly<{
  of: 'token' | 'native'
  field: 'amount' | 'account'
  required: bigint
  available: bigint
  /** Where an account holds coins as objects: how many, and how many of them a transaction can use at most. */
  coins?: Readonly<{ held: number; most: number }>
}>

/** INSUFFICIENT_BALANCE of an account that cannot pay for a swap. Adapters do not know the decimals of its amounts. */
export class InsufficientBalance extends AppError {
  readonly shortage: Shortage

  constructor(shortage: Shortage, decimals: Readonly<Record<Shortage['of'], number>> | null = null) {
    const { of, field, required, available, coins } = shortage
    const some =
      coins && coins.held > coins.most ? ` in its ${coins.most} largest coins of ${coins.held}: merge them` : ''
    const format = (units: bigint) => (decimals === null ? units.toString() : formatUnits(units, decimals[of]))
    super(
      'INSUFFICIENT_BALANCE',
      `the account holds too little of the ${of === 'native' ? 'native currency' : 'token to swap'}${some}`,
      { field, extra: { required: format(required), available: format(available) } },
    )
    this.shortage = shortage
  }
}

/** Throws INSUFFICIENT_BALANCE if less is available than required. */
export function requireBalance(shortage: Shortage): void {
  if (shortage.available < shortage.required) throw new InsufficientBalance(shortage)
}
