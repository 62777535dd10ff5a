import type { ErrorBody, ErrorCode, Problem } from './generated/types.ts'
import { errorCodes } from './generated/values.ts'

/**
 * Failures without an error of the API: no answer, an answer that is not of the API, a wait that ended, a webhook. And
 * `UNKNOWN_CODE`, for a code that a later version of the API added: `apiCode` holds it.
 */
export type ClientErrorCode =
  | 'UNKNOWN_CODE'
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  | 'INVALID_RESPONSE'
  | 'WAIT_TIMEOUT'
  | 'WEBHOOK_REJECTED'

/** Optional members of a problem that are always present under a code. */
type PresentMembers = {
  ALLOWANCE_RESET_REQUIRED: 'rawTx'
  RATE_ID_EXPIRED: 'requote'
  SCOPE_REQUIRED: 'scope'
}
type FirstProblem<Code> = Code extends keyof PresentMembers
  ? Problem & Required<Pick<Problem, PresentMembers[Code]>>
  : Problem

interface Failure<Code extends string, Problems> extends Error {
  readonly code: Code
  /** The code of the API as it was sent; null without an error of the API. */
  readonly apiCode: string | null
  /** Reason phrase of the status. */
  readonly error: string | null
  /** Null without an answer. */
  readonly statusCode: number | null
  /** State it in questions to the operator. */
  readonly requestId: string | null
  readonly errors: Problems
  /** The wait of the header `Retry-After`. */
  readonly retryAfterMs: number | null
  /** A repeat with this key cannot act twice. Null for reads. */
  readonly idempotencyKey: string | null
}

/** Errors of the API by `code`. */
export type ApiError<Code extends ErrorCode = ErrorCode> = {
  [One in Code]: Failure<One, readonly [FirstProblem<One>, ...Problem[]]>
}[Code]
export type ClientError = { [One in ClientErrorCode]: Failure<One, readonly Problem[]> }[ClientErrorCode]

/** Everything that the client rejects with, except the reason of an aborted signal: a union by `code`. */
export type SwapyardError = ApiError | ClientError

export type FailureDetails = Readonly<
  Partial<Pick<SwapyardError, 'apiCode' | 'error' | 'statusCode' | 'requestId' | 'retryAfterMs' | 'idempotencyKey'>> & {
    errors?: readonly Problem[]
    cause?: unknown
  }
>

/** `error instanceof SwapyardError` narrows to the union. */
export const SwapyardError = class SwapyardError extends Error {
  readonly code: string
  readonly apiCode: string | null
  readonly error: string | null
  readonly statusCode: number | null
  readonly requestId: string | null
  readonly errors: readonly Problem[]
  readonly retryAfterMs: number | null
  readonly idempotencyKey: string | null

  constructor(code: ErrorCode | ClientErrorCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause })
    this.name = 'SwapyardError'
    this.code = code
    this.apiCode = details.apiCode ?? null
    this.error = details.error ?? null
    this.statusCode = details.statusCode ?? null
    this.requestId = details.requestId ?? null
    this.errors = details.errors ?? []
    this.retryAfterMs = details.retryAfterMs ?? null
    this.idempotencyKey = details.idempotencyKey ?? null
  }
} as unknown as {
  new (code: ErrorCode | ClientErrorCode, message: string, details?: FailureDetails): SwapyardError
  readonly prototype: SwapyardError
}

export function isErrorBody(value: unknown): value is ErrorBody {
  const { code, message, errors } = Object(value) as Partial<ErrorBody>
  return typeof code === 'string' && typeof message === 'string' && Array.isArray(errors)
}

export const toKnownCode = (apiCode: string): ErrorCode | 'UNKNOWN_CODE' =>
  errorCodes.find((known) => known === apiCode) ?? 'UNKNOWN_CODE'
