import Type, { type Static } from 'typebox'
import { RateQuote } from './quotes.ts'
import { wordOf } from './scalars.ts'

/** Codes of the partners' interface. A code is never renamed or reused; new ones are added. */
export const partnerErrorCodeNames = [
  'ADDRESS_IS_OURS',
  'ALLOWANCE_RESET_REQUIRED',
  'AMOUNT_ABOVE_MAX',
  'AMOUNT_BELOW_MIN',
  'AMOUNT_MALFORMED',
  'AMOUNT_PRECISION',
  'API_KEY_INVALID',
  'API_KEY_MISSING',
  'APPROVAL_NOT_NEEDED',
  'BODY_TOO_LARGE',
  'CURRENCY_NOT_FOUND',
  'DELIVERY_NOT_FOUND',
  'EMAIL_REQUIRED',
  'EVENT_NOT_FOUND',
  'EXCHANGE_NOT_FOUND',
  'EXCHANGE_NOT_PENDING',
  'FIXED_RATE_UNSUPPORTED',
  'HEADERS_TOO_LARGE',
  'IDEMPOTENCY_CONFLICT',
  'INSUFFICIENT_BALANCE',
  'INSUFFICIENT_LIQUIDITY',
  'INTERNAL',
  'INVALID_ADDRESS',
  'INVALID_REFUND_ADDRESS',
  'IP_NOT_ALLOWED',
  'MEMO_INVALID',
  'MEMO_NOT_SUPPORTED',
  'MEMO_REQUIRED',
  'METHOD_NOT_ALLOWED',
  'NETWORK_NOT_FOUND',
  'NETWORK_NOT_SERVED',
  'NETWORK_PAUSED',
  'NETWORK_UNAVAILABLE',
  'NONCE_CONFLICT',
  'NO_ROUTE',
  'ORIGIN_NOT_ALLOWED',
  'OVERLOADED',
  'PAIR_UNAVAILABLE',
  'PARTNER_SUSPENDED',
  'PRICE_IMPACT_TOO_HIGH',
  'RATES_UNAVAILABLE',
  'RATE_ID_EXPIRED',
  'RATE_ID_INVALID',
  'RATE_ID_MISMATCH',
  'RATE_ID_REQUIRED',
  'RATE_ID_USED',
  'RATE_LIMIT_EXCEEDED',
  'RAW_TX_INVALID',
  'REFERRER_FEE_OUT_OF_RANGE',
  'REFUND_ADDRESS_SET',
  'REQUEST_TIMEOUT',
  'RESTRICTED',
  'ROUTE_NOT_FOUND',
  'SAME_CURRENCY',
  'SCOPE_REQUIRED',
  'SIMULATION_FAILED',
  'SLIPPAGE_OUT_OF_RANGE',
  'TOKEN_NOT_FOUND',
  'TX_CHAIN_MISMATCH',
  'UNSUPPORTED_MEDIA_TYPE',
  'URI_TOO_LONG',
  'VALIDATION_ERROR',
  'WEBHOOK_DISABLED',
  'WEBHOOK_LIMIT_REACHED',
  'WEBHOOK_NOT_FOUND',
  'WEBHOOK_SECRET_ROTATED',
  'WEBHOOK_URL_REFUSED',
] as const

/** Codes that only `/admin/v1` answers. The partners' document and client library leave them out. */
export const adminErrorCodeNames = [
  'CONFIRMATION_REQUIRED',
  'CSRF_TOKEN_INVALID',
  'LOGIN_FAILED',
  'NOT_DECIDABLE',
  'PASSKEY_NOT_FOUND',
  'REQUEST_CLOSED',
  'REQUEST_OUTDATED',
  'ROLE_REQUIRED',
  'SECOND_PERSON_REQUIRED',
  'SESSION_REQUIRED',
] as const

/** Every code, sorted. */
export const errorCodeNames = [...partnerErrorCodeNames, ...adminErrorCodeNames].toSorted()

const decimal = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

/** One problem of a request. Which of the optional members are present depends on the code. */
export const Problem = Type.Object(
  {
    code: wordOf(errorCodeNames, { description: 'Stable code of this problem.', examples: ['AMOUNT_BELOW_MIN'] }),
    field: Type.Optional(
      Type.String({ description: 'Name of the parameter or body field.', examples: ['fromAmount'] }),
    ),
    message: Type.Optional(Type.String({ description: 'One sentence for the developer.' })),
    min: decimal('Lower limit, as text.', '0.0004'),
    max: decimal('Upper limit, as text.', '2.8'),
    currency: Type.Optional(Type.String({ description: 'Ticker of the limits.', examples: ['btc'] })),
    network: Type.Optional(Type.String({ description: 'Network of the limits or of the failure.', examples: ['btc'] })),
    minTo: decimal('What the lower limit gives, as text.', '25.1'),
    maxTo: decimal('What the upper limit gives, as text.', '178500'),
    toCurrency: Type.Optional(Type.String({ description: 'Ticker of `minTo` and `maxTo`.', examples: ['usdt'] })),
    toNetwork: Type.Optional(Type.String({ description: 'Network of `minTo` and `maxTo`.', examples: ['eth'] })),
    limit: decimal('Limit that was reached, as text.', '6000'),
    allowed: Type.Optional(Type.Array(Type.String(), { description: 'Values that are accepted.' })),
    required: decimal('Required balance, as text.', '1.5'),
    available: decimal('Available balance, as text.', '0.2'),
    requote: Type.Optional(RateQuote),
    rawTx: Type.Optional(
      Type.String({ description: 'Raw transaction to sign and send first.', examples: ['0x02f8b1'] }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Why the chain would revert the transaction.', examples: ['STF'] }),
    ),
    priceImpact: decimal('Price impact in percent, as text.', '62.5'),
    scope: Type.Optional(Type.String({ description: 'Scope that the key lacks.', examples: ['exchange:create'] })),
    resumeAfter: Type.Optional(
      Type.String({
        description: 'Last-Event-ID of a stream that begins with the oldest event that is kept.',
        examples: ['5f0d6c1e-93f4-4a86-8a1b-2f7d0c9e4b35'],
      }),
    ),
    possibleFrom: Type.Optional(
      Type.String({
        description: 'Time from which the request is possible.',
        examples: ['2026-01-03T03:04:05.000Z'],
      }),
    ),
  },
  { additionalProperties: true, description: 'One problem of a request.' },
)
export type Problem = Static<typeof Problem>

/**
 * Body of every response with a status of 400 or more. The first three members are in the specification; the others are
 * additive.
 */
export const ErrorBody = Type.Object(
  {
    message: Type.String({ description: 'One sentence for the developer.', examples: ['no API key was sent'] }),
    error: Type.String({ description: 'Reason phrase of the status.', examples: ['Unauthorized'] }),
    statusCode: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the answer.', examples: [401] }),
    code: wordOf(errorCodeNames, {
      description: 'Stable code. The page /docs/errors of this server lists every code and what to do about it.',
      examples: ['API_KEY_MISSING'],
    }),
    requestId: Type.String({
      description: 'The same id as in the header X-Request-Id. Include it in support requests.',
      examples: ['3f1c9a0be7d24c55-1k'],
    }),
    errors: Type.Array(Problem, { description: 'All problems of the request.' }),
  },
  { description: 'An error.' },
)
export type ErrorBody = Static<typeof ErrorBody>
