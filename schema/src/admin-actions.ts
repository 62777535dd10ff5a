import Type, { type Static, type TObject, type TProperties } from 'typebox'

/** From the least to the most permitted: each may do what the ones before it may. */
export const operatorRoles = ['viewer', 'support', 'treasurer', 'admin'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** An act of an operator. Its body has `reason` and `preview` beside the arguments. */
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

const text = (description: string, example: string, maxLength = 128) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] })
const optional = (description: string, example: string, maxLength = 128) =>
  Type.Optional(text(description, example, maxLength))
const flag = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }))
const whole = (minimum: number, maximum: number, description: string, example: number) =>
  Type.Integer({ minimum, maximum, description, examples: [example] })
const list = (description: string, example: string, maxItems = 50) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 128, examples: [example] }), {
    maxItems,
    description,
    examples: [[example]],
  })
const objectOf = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false })

const UUID = '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11'
const EVM_ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const HASH = `0x${'ab'.repeat(32)}`
const exchangeId = text('Id of the exchange.', UUID)
const payoutId = text('Id of the payout.', UUID)
const transactionId = text('Id of our transaction.', UUID)
const depositId = text('Number of the deposit.', '4711')
const partner = text('Name of the partner.', 'acme', 64)
const keyId = text('Public part of the API key.', 'Ab12Cd34')
const currency = text('Currency as `ticker@network`.', 'usdt@eth')
const network = text('Ticker of the network.', 'btc', 64)
const address = text('Address.', EVM_ADDRESS, 200)
const memo = optional('Memo of the address.', '12345')
const amount = text('Amount in coins.', '1.25', 80)
const key = text('Idempotency key: a repeat with the same key is paid once.', 'may-2027')
const login = text('Login of the operator: an e-mail address or another name, in lower case.', 'ada@example.com', 100)
const role = Type.Unsafe<OperatorRole>(
  Type.String({ enum: [...operatorRoles], description: 'What the operator may do.', examples: ['support'] }),
)
const feeBps = Type.Optional(whole(0, 1_000, 'Fee of the partner in basis points of the amount out.', 25))
const openExchangesMax = Type.Optional(whole(1, 999_999_999, 'Maximum number of open exchanges.', 10_000))
const rateLimitPerMinute = Type.Optional(whole(1, 999_999_999, 'Weighted requests per minute.', 6_000))
const strict = flag('Refuse unknown members of bodies and queries.')
const refundToSender = flag('Send a refund without a refund address to the sender.')
const scopes = Type.Optional(list('Scopes of the key.', 'exchange:read'))
const ipAllowList = Type.Optional(
  list('Only these addresses may use it, as CIDR blocks; an empty list allows any.', '192.0.2.0/24'),
)
const lifetimeDays = Type.Optional(whole(1, 3_650, 'The secret expires after so many days; never by default.', 90))

const decide = <TwoPersons extends boolean>(verb: string, description: string, twoPersons: TwoPersons) => ({
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

type Group = Readonly<Record<string, AdminAction>>

const exchangeActions = {
  'exchanges-release': decide(
    'release',
    'Resumes it where it was held: a payout is paid, a refund is sent back.',
    true,
  ),
  'exchanges-refund': decide('refund', 'Sends the deposit back.', true),
  'exchanges-convert': decide('convert', 'Converts a deposit that was to be refunded.', true),
  'exchanges-fail': decide('fail', 'Closes it; the deposit stays until its owner claims it.', false),
  'exchanges-set-refund': {
    path: '/admin/v1/exchanges/set-refund',
    summary: 'Set the refund address of a held exchange',
    description: 'A refund that waits for the address is sent.',
    role: 'support',
    twoPersons: true,
    arguments: objectOf({ exchangeId, address, memo }),
  },
} as const satisfies Group

const payoutActions = {
  'payouts-release': {
    path: '/admin/v1/payouts/release',
    summary: 'Release a held payout',
    description: 'Retries a sweep, a gas supply or a withdrawal, or a payout that waits; pays a reversed payout again.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ payoutId }),
  },
  'payouts-drop': {
    path: '/admin/v1/payouts/drop',
    summary: 'Drop a held payout',
    description: 'It is never paid from our wallet; the deposits of a sweep are swept again later.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ payoutId }),
  },
  'payouts-conflict': {
    path: '/admin/v1/payouts/conflict',
    summary: 'Name a conflicting transaction',
    description: 'The payouts are signed again once every node shows the conflict.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({
      transactionId,
      spentBy: text('The transaction that spent its input or used its nonce.', HASH),
    }),
  },
  'payouts-add-funding': {
    path: '/admin/v1/payouts/add-funding',
    summary: 'Add a transaction that creates a missing input',
    description: 'It is broadcast, so that the payout can be mined.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ transactionId, raw: text('Its bytes in hex.', '02000000', 60_000) }),
  },
  'payouts-release-input': {
    path: '/admin/v1/payouts/release-input',
    summary: 'Release a quarantined output',
    description: 'Payouts may spend it again.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ network, outpoint: text('The output as `txid:vout`.', `${'ab'.repeat(32)}:0`) }),
  },
  'fundings-claim': {
    path: '/admin/v1/fundings/claim',
    summary: 'Claim coins at a hot wallet as capital',
    description: 'Books coins that arrived at a hot wallet for no exchange as your capital.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ depositId }),
  },
  'unclaimed-pay-out': {
    path: '/admin/v1/unclaimed/pay-out',
    summary: 'Pay a deposit to its owner',
    description: 'Pays the deposit in full.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ depositId, address, memo }),
  },
  'treasury-withdraw': {
    path: '/admin/v1/treasury/withdraw',
    summary: 'Withdraw free capital',
    description: 'Pays to an address of `treasury.coldAddresses`.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ currency, amount, address, key }),
  },
  'treasury-ceiling': {
    path: '/admin/v1/treasury/ceiling',
    summary: 'Withdraw what is above a ceiling',
    description: 'Withdraws what the hot wallet holds above the amount, as far as it is free.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ currency, amount, address, key }),
  },
  'treasury-split': {
    path: '/admin/v1/treasury/split',
    summary: 'Split the outputs of a hot wallet',
    description: 'Splits a hot wallet of the bitcoin family into `bitcoin.outputsReady` outputs.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ network }),
  },
  'treasury-consolidate': {
    path: '/admin/v1/treasury/consolidate',
    summary: 'Merge the small outputs of a hot wallet',
    description: 'Merges them whatever the fee rate is.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ network }),
  },
} as const satisfies Group

const partnerActions = {
  'partners-add': {
    path: '/admin/v1/partners/add',
    summary: 'Add a partner',
    description: 'Absent members take their value from the settings.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender }),
  },
  'partners-set': {
    path: '/admin/v1/partners/set',
    summary: 'Change fee, limits or strictness of a partner',
    description: 'Changes what is named; open exchanges keep their fee.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender }),
  },
  'partners-suspend': {
    path: '/admin/v1/partners/suspend',
    summary: 'Suspend a partner',
    description: 'Refuses everything but status reads.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ name: partner }),
  },
  'partners-resume': {
    path: '/admin/v1/partners/resume',
    summary: 'End the suspension of a partner',
    description: 'Its keys are accepted again.',
    role: 'admin',
    twoPersons: false,
    arguments: objectOf({ name: partner }),
  },
  'partners-recipient': {
    path: '/admin/v1/partners/recipient',
    summary: 'Set the default recipient of a partner',
    description: 'The address receives the proceeds of exchanges that name none.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, currency, address, memo }),
  },
  'partners-fee-address': {
    path: '/admin/v1/partners/fee-address',
    summary: 'Set the address for the swap fees of a partner',
    description: '`none`: the operator collects the fees and owes them.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, network, address }),
  },
  'partners-pay-out': {
    path: '/admin/v1/partners/pay-out',
    summary: 'Pay from the balance of a partner',
    description: 'We pay the network fee.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ name: partner, currency, address, amount, key, memo }),
  },
  'partners-fees-paid': {
    path: '/admin/v1/partners/fees-paid',
    summary: 'Book swap fees that you sent to a partner',
    description: 'The amount is what the transaction on chain shows.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({
      name: partner,
      network,
      token: text('Contract of the token.', EVM_ADDRESS, 200),
      address,
      hash: text('Hash of the transaction.', HASH),
      from: optional('The address that sent them; the configured fee address by default.', EVM_ADDRESS, 200),
    }),
  },
  'partners-fees-search': {
    path: '/admin/v1/partners/fees-search',
    summary: 'Search blocks again for fees of unreported swaps',
    description: 'A fee is never booked twice.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ network, height: whole(0, 999_999_999, 'The search starts after this block.', 21_000_000) }),
  },
  'keys-add': {
    path: '/admin/v1/partners/keys/add',
    summary: 'Create an API key',
    description: 'The key is shown once, to the operator who asks; it is valid once it is approved.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, scopes, ipAllowList, lifetimeDays }),
  },
  'keys-set': {
    path: '/admin/v1/partners/keys/set',
    summary: 'Change the scopes and addresses of a key',
    description: 'Its secret stays.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ keyId, scopes, ipAllowList }),
  },
  'keys-rotate': {
    path: '/admin/v1/partners/keys/rotate',
    summary: 'Create a new secret for a key',
    description: 'The old one ends after the overlap. The new one is shown once, to the operator who asks.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({
      keyId,
      overlapHours: Type.Optional(whole(0, 999_999_999, 'Time for which both secrets are valid.', 24)),
      lifetimeDays,
    }),
  },
  'keys-revoke': {
    path: '/admin/v1/partners/keys/revoke',
    summary: 'Revoke a key',
    description: 'At once, on every process.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ keyId }),
  },
} as const satisfies Group

const serviceActions = {
  'pauses-begin': {
    path: '/admin/v1/pauses/begin',
    summary: 'Pause a scope',
    description:
      'Scopes: `all`, `network:btc`, `payouts:eth`, `asset:usdt@eth`, `partner:acme`; of swap routes `dex:sushiswap-v2@base`, `pool:<id>@base`, `token:<address>@base`.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ scope: text('The scope.', 'network:btc', 200) }),
  },
  'pauses-end': {
    path: '/admin/v1/pauses/end',
    summary: 'End a pause',
    description: 'Of `payouts:NETWORK`, acknowledges the coins that are missing there.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({
      scope: text('The scope.', 'network:btc', 200),
      missing: Type.Optional(
        list('Missing coins that you have looked at: an alarm and its base units.', 'difference:usdt@eth=7'),
      ),
    }),
  },
  'alarms-acknowledge': {
    path: '/admin/v1/alarms/acknowledge',
    summary: 'State that you work on an alarm',
    description: 'It stays open, and the metric counts it no longer.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ subject: text('Subject of the alarm.', 'unclaimed:btc', 300) }),
  },
  'alarms-resolve': {
    path: '/admin/v1/alarms/resolve',
    summary: 'End an alarm',
    description: 'It is raised again if the cause remains.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({ subject: text('Subject of the alarm.', 'unclaimed:btc', 300) }),
  },
  'rescans-begin': {
    path: '/admin/v1/rescans/begin',
    summary: 'Read final blocks again',
    description: 'The workers record the deposits that were missed.',
    role: 'treasurer',
    twoPersons: false,
    arguments: objectOf({
      network,
      from: whole(0, 999_999_999, 'The first block.', 840_000),
      to: whole(0, 999_999_999, 'The last block.', 840_010),
    }),
  },
  'signer-import': {
    path: '/admin/v1/signer/import',
    summary: 'Import payouts that were sent and that the database does not know',
    description: 'Repeat until none waits.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({}),
  },
  'signer-release': {
    path: '/admin/v1/signer/release',
    summary: 'End the hold after a restore',
    description: 'Settles the missing payouts; a new payout to one of their destinations waits for you.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({}),
  },
  'operators-invite': {
    path: '/admin/v1/operators/invite',
    summary: 'Invite an operator',
    description: 'The token is shown once, to the operator who asks; it is valid once it is approved, for two days.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ login, role }),
  },
  'operators-reset': {
    path: '/admin/v1/operators/reset',
    summary: 'Reset the password and the second factors of an operator',
    description: 'Ends the sessions and makes a new invitation. The token is shown once, to the operator who asks.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ login }),
  },
  'operators-set-role': {
    path: '/admin/v1/operators/set-role',
    summary: 'Change the role of an operator',
    description: 'In force from the next request.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ login, role }),
  },
  'operators-disable': {
    path: '/admin/v1/operators/disable',
    summary: 'Disable an operator',
    description: 'Ends the sessions at once.',
    role: 'admin',
    twoPersons: false,
    arguments: objectOf({ login }),
  },
  'operators-enable': {
    path: '/admin/v1/operators/enable',
    summary: 'Enable an operator again',
    description: 'With the password and second factors of before.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ login }),
  },
} as const satisfies Group

/** Every act, with the least role and whether it needs a second person. */
export const adminActions = { ...exchangeActions, ...payoutActions, ...partnerActions, ...serviceActions }

export type AdminActionName = keyof typeof adminActions
export type AdminArguments<Name extends AdminActionName> = Static<(typeof adminActions)[Name]['arguments']>

/** Whether the role includes what `least` may. */
export const includesRole = (role: OperatorRole, least: OperatorRole): boolean =>
  operatorRoles.indexOf(role) >= operatorRoles.indexOf(least)

/** Who may approve an act: its own role, and at least a treasurer. */
export const approverOf = ({ role: least }: Pick<AdminAction, 'role'>): OperatorRole =>
  includesRole(least, 'treasurer') ? least : 'treasurer'
