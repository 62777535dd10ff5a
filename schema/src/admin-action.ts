import Type, { type TObject, type TProperties } from 'typebox'

/** From the least to the most permitted: each may do what the ones before it may. */
export const operatorRoles = ['viewer', 'support', 'treasurer', 'admin'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** An action of an operator. Its body has `reason` and `preview` beside the arguments. */
export type AdminAction = Readonly<{
  path: string
  summary: string
  description: string
  /** The least role. */
  role: OperatorRole
  /** Moves money or changes limits: another operator must approve it. */
  twoPersons: boolean
  arguments: TObject
}>

export const text = (description: string, example: string, maxLength = 128) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] })
export const optional = (description: string, example: string, maxLength = 128) =>
  Type.Optional(text(description, example, maxLength))
export const flag = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }))
export const whole = (minimum: number, maximum: number, description: string, example: number) =>
  Type.Integer({ minimum, maximum, description, examples: [example] })
export const list = (description: string, example: string, maxItems = 50) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 128, examples: [example] }), {
    maxItems,
    description,
    examples: [[example]],
  })
export const objectOf = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false })

export const UUID = '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11'
export const EVM_ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
export const HASH = `0x${'ab'.repeat(32)}`
export const exchangeId = text('Id of the exchange.', UUID)
export const payoutId = text('Id of the payout.', UUID)
export const transactionId = text('Id of our transaction.', UUID)
export const depositId = text('Number of the deposit.', '4711')
export const partner = text('Name of the partner.', 'acme', 64)
export const keyId = text('Public part of the API key.', 'Ab12Cd34')
export const currency = text('Currency as `ticker@network`.', 'usdt@eth')
export const network = text('Ticker of the network.', 'btc', 64)
export const address = text('Address.', EVM_ADDRESS, 200)
export const memo = optional('Memo of the address.', '12345')
export const amount = text('Amount in coins.', '1.25', 80)
export const key = text('Idempotency key: a repeat with the same key is paid once.', 'may-2027')
export const login = text(
  'Login of the operator: an e-mail address or another name, in lower case.',
  'ada@example.com',
  100,
)
export const role = Type.Unsafe<OperatorRole>(
  Type.String({ enum: [...operatorRoles], description: 'What the operator may do.', examples: ['support'] }),
)
export const feeBps = Type.Optional(whole(0, 1_000, 'Fee of the partner in basis points of the amount out.', 25))
export const openExchangesMax = Type.Optional(whole(1, 999_999_999, 'Maximum number of open exchanges.', 10_000))
export const rateLimitPerMinute = Type.Optional(whole(1, 999_999_999, 'Weighted requests per minute.', 6_000))
export const strict = flag('Refuse unknown members of bodies and queries.')
export const refundToSender = flag('Send a refund without a refund address to the sender.')
export const refundByLink = flag('Let a payer name a missing refund address on the tracking page.')
export const email = optional('Address for e-mails to the partner; `none`: no e-mails.', 'ops@acme.example', 254)
export const origins = Type.Optional(
  list(
    'Origins of the pages that use the key: it is publishable, for quotes and creates alone.',
    'https://wallet.example',
  ),
)
export const scopes = Type.Optional(list('Scopes of the key.', 'exchange:read'))
export const ipAllowList = Type.Optional(
  list('Only these addresses may use it, as CIDR blocks; an empty list allows any.', '192.0.2.0/24'),
)
export const lifetimeDays = Type.Optional(
  whole(1, 3_650, 'The secret expires after so many days; never by default.', 90),
)

export const decide = <TwoPersons extends boolean>(verb: string, description: string, twoPersons: TwoPersons) => ({
  path: `/admin/v1/exchanges/${verb}`,
  summary: `Decide about a held deposit: ${verb}`,
  description,
  role: 'treasurer' as const,
  twoPersons,
  arguments: objectOf({
    exchangeId,
    deposit: optional('Number or transaction of the deposit, if several are held.', '4711'),
  }),
})

export type Group = Readonly<Record<string, AdminAction>>
