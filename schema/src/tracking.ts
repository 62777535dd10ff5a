import Type, { type Static } from 'typebox'
import { confirmationFields, deadlineFields, ExchangeRecord, Execution, Refund } from './cross-chain.ts'
import { integerOrNull, objectOrNull } from './scalars.ts'

/** The token of a `trackingUrl`: 32 bytes in base64url. */
export const TRACKING_TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$'

export const TrackingQuery = Type.Object({
  token: Type.String({
    pattern: TRACKING_TOKEN_PATTERN,
    maxLength: 43,
    description: 'The last part of the path of `trackingUrl`.',
    examples: ['AZjFonwee3qfDS9vHAqbfh8jB2x0qk4m1y9r8p3w5sE'],
  }),
})
export type TrackingQuery = Static<typeof TrackingQuery>

const { amountFromReceived, amountToReceived, payinHash } = Execution.properties
const { status, statusReason, created, exchangeType, request } = ExchangeRecord.properties

/** A deposit and what became of it. Of a private exchange both legs are one item. */
export const TrackedDeposit = Type.Object(
  {
    amountFromReceived,
    amountToReceived,
    status,
    statusReason,
    payinHash,
    payoutHash: Type.Unsafe<string | null>({
      ...Execution.properties.payoutHash,
      description: 'Transaction hash of the payout to the recipient; null on a refund.',
    }),
    refund: objectOrNull(Refund, { description: 'The refund once its amount is reserved, otherwise null.' }),
    created: Execution.properties.created,
    ...confirmationFields,
  },
  { description: 'A deposit of the payer.' },
)

/** What the payer may see of an exchange. */
export const TrackedExchange = Type.Object(
  {
    id: ExchangeRecord.properties.id,
    created,
    exchangeType,
    status,
    statusReason,
    request,
    deposits: Type.Array(TrackedDeposit, { description: 'Oldest first; of more than 100 the latest 100.' }),
    needsRefundAddress: Type.Boolean({
      description: 'A refund waits for an address. The tracking page has a form for it if the partner allows that.',
      examples: [false],
    }),
    ...deadlineFields,
    ...confirmationFields,
    expectedSeconds: integerOrNull({
      description:
        'Average time in seconds from the deposit to the payout, including confirmations and random delays. Of a private exchange the time through the slowest intermediary, so that it names none. Null if a network is no longer listed.',
      examples: [1800],
    }),
  },
  { description: 'Public status of an exchange.' },
)
export type TrackedExchange = Static<typeof TrackedExchange>
