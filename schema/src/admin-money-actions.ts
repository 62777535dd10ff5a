import {
  address,
  amount,
  currency,
  decide,
  depositId,
  exchangeId,
  type Group,
  HASH,
  key,
  memo,
  network,
  objectOf,
  payoutId,
  text,
  transactionId,
} from './admin-action.ts'

export const exchangeActions = {
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
    description:
      'A refund that waits for the address is sent: `refunds` of the result has what each pays. Where none waits, nothing is paid now.',
    role: 'support',
    twoPersons: true,
    arguments: objectOf({ exchangeId, address, memo }),
  },
} as const satisfies Group

export const payoutActions = {
  'payouts-release': {
    path: '/admin/v1/payouts/release',
    summary: 'Release a held payout',
    description:
      'Retries a sweep, a gas supply or a withdrawal, or a payout that waits; pays a reversed payout again. `will` of the result has amount, recipient and memo.',
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
    description:
      'Pays to an address of `treasury.coldAddresses`. The wallet keeps what network fees need: of this withdrawal, queued payouts and unpaid fixed rates.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ currency, amount, address, key }),
  },
  'treasury-ceiling': {
    path: '/admin/v1/treasury/ceiling',
    summary: 'Withdraw what is above a ceiling',
    description:
      'Withdraws what the hot wallet holds above the amount, without queued withdrawals, as far as it is free.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ currency, amount, address, key }),
  },
  'treasury-split': {
    path: '/admin/v1/treasury/split',
    summary: 'Split the outputs of a hot wallet',
    description: 'Splits a hot wallet of the bitcoin family into `bitcoin.outputsReady` outputs.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ network }),
  },
  'treasury-consolidate': {
    path: '/admin/v1/treasury/consolidate',
    summary: 'Merge the small outputs of a hot wallet',
    description: 'Merges them whatever the fee rate is.',
    role: 'treasurer',
    twoPersons: true,
    arguments: objectOf({ network }),
  },
} as const satisfies Group
