/** Every error code of the API with its kind. A code is stable: it is never renamed or reused. */
export const errorCodes = {
  ADDRESS_IS_OURS: 'invalid',
  ALLOWANCE_RESET_REQUIRED: 'conflict',
  AMOUNT_ABOVE_MAX: 'refused',
  AMOUNT_BELOW_MIN: 'refused',
  AMOUNT_MALFORMED: 'invalid',
  AMOUNT_PRECISION: 'invalid',
  API_KEY_INVALID: 'unauthorized',
  API_KEY_MISSING: 'unauthorized',
  APPROVAL_NOT_NEEDED: 'refused',
  BODY_TOO_LARGE: 'too_large',
  CONFIRMATION_REQUIRED: 'forbidden',
  CSRF_TOKEN_INVALID: 'forbidden',
  CURRENCY_NOT_FOUND: 'not_found',
  DELIVERY_NOT_FOUND: 'not_found',
  EMAIL_REQUIRED: 'refused',
  EVENT_NOT_FOUND: 'not_found',
  EXCHANGE_NOT_FOUND: 'not_found',
  EXCHANGE_NOT_PENDING: 'conflict',
  FIXED_RATE_UNSUPPORTED: 'refused',
  HEADERS_TOO_LARGE: 'headers_too_large',
  IDEMPOTENCY_CONFLICT: 'conflict',
  INSUFFICIENT_BALANCE: 'refused',
  INSUFFICIENT_LIQUIDITY: 'refused',
  INTERNAL: 'bug',
  INVALID_ADDRESS: 'invalid',
  INVALID_REFUND_ADDRESS: 'invalid',
  IP_NOT_ALLOWED: 'forbidden',
  LOGIN_FAILED: 'unauthorized',
  MEMO_INVALID: 'invalid',
  MEMO_NOT_SUPPORTED: 'invalid',
  MEMO_REQUIRED: 'invalid',
  METHOD_NOT_ALLOWED: 'method',
  NETWORK_NOT_FOUND: 'not_found',
  NETWORK_NOT_SERVED: 'refused',
  NETWORK_PAUSED: 'unavailable',
  NETWORK_UNAVAILABLE: 'unavailable',
  NONCE_CONFLICT: 'conflict',
  NOT_DECIDABLE: 'conflict',
  NO_ROUTE: 'refused',
  ORIGIN_NOT_ALLOWED: 'forbidden',
  OVERLOADED: 'unavailable',
  PAIR_UNAVAILABLE: 'refused',
  PARTNER_SUSPENDED: 'forbidden',
  PASSKEY_NOT_FOUND: 'not_found',
  PRICE_IMPACT_TOO_HIGH: 'refused',
  RATES_UNAVAILABLE: 'unavailable',
  RATE_ID_EXPIRED: 'expired',
  RATE_ID_INVALID: 'invalid',
  RATE_ID_MISMATCH: 'invalid',
  RATE_ID_REQUIRED: 'invalid',
  RATE_ID_USED: 'conflict',
  RATE_LIMIT_EXCEEDED: 'throttled',
  RAW_TX_INVALID: 'invalid',
  REFERRER_FEE_OUT_OF_RANGE: 'invalid',
  REFUND_ADDRESS_SET: 'conflict',
  REQUEST_CLOSED: 'conflict',
  REQUEST_OUTDATED: 'conflict',
  REQUEST_TIMEOUT: 'timeout',
  RESTRICTED: 'restricted',
  ROLE_REQUIRED: 'forbidden',
  ROUTE_NOT_FOUND: 'not_found',
  SAME_CURRENCY: 'invalid',
  SCOPE_REQUIRED: 'forbidden',
  SECOND_PERSON_REQUIRED: 'forbidden',
  SESSION_REQUIRED: 'unauthorized',
  SIMULATION_FAILED: 'refused',
  SLIPPAGE_OUT_OF_RANGE: 'invalid',
  TOKEN_NOT_FOUND: 'not_found',
  TX_CHAIN_MISMATCH: 'invalid',
  UNSUPPORTED_MEDIA_TYPE: 'media_type',
  URI_TOO_LONG: 'uri_too_long',
  VALIDATION_ERROR: 'invalid',
  WEBHOOK_DISABLED: 'conflict',
  WEBHOOK_LIMIT_REACHED: 'conflict',
  WEBHOOK_NOT_FOUND: 'not_found',
  WEBHOOK_SECRET_ROTATED: 'conflict',
  WEBHOOK_URL_REFUSED: 'refused',
} as const

export type ErrorCode = keyof typeof errorCodes
export type ErrorKind = (typeof errorCodes)[ErrorCode]

/** One problem of a request. Limits are decimal text; `requote` is a fresh quote. */
export type Problem = Readonly<{ code: ErrorCode; field?: string; message?: string; [extra: string]: unknown }>

/** A failure with a stable code. `message` is for the partner's developer: what failed, with which value, what to do. No internals. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly problems: readonly Problem[]
  readonly retryAfterSeconds: number | null

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      problems?: readonly Problem[]
      field?: string
      extra?: Record<string, unknown>
      cause?: unknown
      retryAfterSeconds?: number
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.problems = options.problems ?? [
      { code, ...(options.field === undefined ? {} : { field: options.field }), message, ...options.extra },
    ]
    this.retryAfterSeconds = options.retryAfterSeconds ?? (errorCodes[code] === 'unavailable' ? 5 : null)
  }

  get kind(): ErrorKind {
    return errorCodes[this.code]
  }

  /** The same request may succeed later. */
  get retryable(): boolean {
    return this.kind === 'unavailable'
  }
}
