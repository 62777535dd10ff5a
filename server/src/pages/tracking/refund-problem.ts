import { AppError, type ErrorCode } from '../../core/domain/errors.ts'
import type { TrackedExchange } from '../../exchange/domain/tracked-exchange.ts'
import type { RefundProblem } from './refund-region.ts'

const problems: Readonly<Partial<Record<ErrorCode, RefundProblem>>> = {
  INVALID_REFUND_ADDRESS: 'invalid',
  VALIDATION_ERROR: 'invalid',
  MEMO_REQUIRED: 'memoRequired',
  MEMO_INVALID: 'memoInvalid',
  MEMO_NOT_SUPPORTED: 'memoInvalid',
  ADDRESS_IS_OURS: 'ours',
  RESTRICTED: 'restricted',
  REFUND_ADDRESS_SET: 'alreadyNamed',
}

/** What to tell the user about a refused address; null if the failure is another one. */
export function toRefundProblem(error: unknown, { exchange }: TrackedExchange): RefundProblem | null {
  if (!(error instanceof AppError)) return null
  if (error.retryable) return 'failed'
  const problem = problems[error.code] ?? null
  return problem === 'invalid' && exchange.type === 'private' ? 'invalidPrivate' : problem
}
