import Type, { type Static } from 'typebox'
import {
  type AdminAction,
  address,
  amount,
  currency,
  EVM_ADDRESS,
  email,
  feeBps,
  flag,
  type Group,
  HASH,
  ipAllowList,
  key,
  keyId,
  lifetimeDays,
  list,
  login,
  memo,
  network,
  type OperatorRole,
  objectOf,
  openExchangesMax,
  operatorRoles,
  optional,
  origins,
  partner,
  rateLimitPerMinute,
  refundByLink,
  refundToSender,
  role,
  scopes,
  strict,
  text,
  whole,
} from './admin-action.ts'
import { exchangeActions, payoutActions } from './admin-money-actions.ts'
import { webhookActions } from './admin-webhooks.ts'

export { type AdminAction, type OperatorRole, operatorRoles } from './admin-action.ts'

const partnerActions = {
  'partners-add': {
    path: '/admin/v1/partners/add',
    summary: 'Add a partner',
    description: 'Absent members take their value from the settings.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ name: partner, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, email }),
  },
  'partners-set': {
    path: '/admin/v1/partners/set',
    summary: 'Change fee, limits or strictness of a partner',
    description: 'Changes what is named; open exchanges keep their fee.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({
      ...{ name: partner, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, refundByLink, email },
    }),
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
    description: 'Its keys are accepted again, and its monthly payouts continue.',
    role: 'admin',
    twoPersons: true,
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
  'partners-monthly-payout': {
    path: '/admin/v1/partners/monthly-payout',
    summary: 'Pay the balance of a partner every month',
    description:
      'To its recipient of the currency, which must be set. `none` as minimum ends it. `convertOthers` first converts the balances in currencies without such a setting, at the price of a quote without network fees.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({
      name: partner,
      currency,
      minimum: text('Smallest balance that is paid, in coins.', '50', 80),
      convertOthers: flag('Convert the other balances into this currency before.'),
    }),
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
    arguments: objectOf({ name: partner, scopes, ipAllowList, lifetimeDays, origins }),
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
    description:
      'Of `payouts:NETWORK`, acknowledges the coins that are missing there. A scope that is not paused is refused.',
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
    description:
      'Its token has two halves, each shown once: the first to the operator who asks, the second to the one who approves. Both together are valid for two days.',
    role: 'admin',
    twoPersons: true,
    arguments: objectOf({ login, role }),
  },
  'operators-reset': {
    path: '/admin/v1/operators/reset',
    summary: 'Reset the password and the second factors of an operator',
    description:
      'Ends the sessions and makes a new invitation, whose token has two halves: the operator who asks and the one who approves are each shown one, once.',
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

/** Every action, with the least role and whether it needs a second person. */
export const adminActions = {
  ...exchangeActions,
  ...payoutActions,
  ...partnerActions,
  ...serviceActions,
  ...webhookActions,
}

export type AdminActionName = keyof typeof adminActions
export type AdminArguments<Name extends AdminActionName> = Static<(typeof adminActions)[Name]['arguments']>

/** Whether the role includes what `least` may. */
export const includesRole = (role: OperatorRole, least: OperatorRole): boolean =>
  operatorRoles.indexOf(role) >= operatorRoles.indexOf(least)

/** Who may approve an action: its own role, and at least a treasurer. */
export const approverOf = ({ role: least }: Pick<AdminAction, 'role'>): OperatorRole =>
  includesRole(least, 'treasurer') ? least : 'treasurer'
