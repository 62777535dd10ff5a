import Type, { type TObject, type TSchema } from 'typebox'
import { type OperatorRole, operatorRoles } from './admin-actions.ts'
import { exchangeStatuses } from './cross-chain.ts'
import { LIMIT_PATTERN } from './cross-chain-requests.ts'
import { swapStatuses } from './defi.ts'

/** What an operator reads. `isList`: the answer has `data` and, after the last row of a page that is not the last, `next`. */
export type AdminRead = Readonly<{
  path: string
  summary: string
  description: string
  /** The least role. */
  role: OperatorRole
  query: TObject
  row: TSchema
  isList: boolean
}>

type Kind = 'text' | 'time' | 'whole' | 'flag' | 'record' | 'list'
/** Kind, description, example. A kind that ends in `?` may be null. */
type Column = readonly [kind: Kind | `${Kind}?`, description: string, example: unknown]

const types: Readonly<Record<Kind, string>> = {
  text: 'string',
  time: 'string',
  whole: 'integer',
  flag: 'boolean',
  record: 'object',
  list: 'array',
}

function toMember([kind, description, example]: Column): TSchema {
  const plain = kind.replace('?', '') as Kind
  const type = types[plain]
  return Type.Unsafe({
    type: kind.endsWith('?') ? [type, 'null'] : type,
    ...(plain === 'time' ? { format: 'date-time' } : {}),
    ...(plain === 'record' ? { additionalProperties: true } : {}),
    ...(plain === 'list' ? { items: {} } : {}),
    description,
    examples: [example],
  })
}

const columnsOf = (columns: Readonly<Record<string, Column>>) =>
  Type.Object(Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, toMember(column)])))

const text = (description: string, example: string, maxLength = 200) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }))
const oneOf = (values: readonly string[], description: string) =>
  Type.Optional(Type.String({ enum: [...values], description, examples: [values[0]] }))
const day = (description: string, example: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description, examples: [example] })
const page = {
  cursor: text('`next` of the page before.', '1764150000000_0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 300),
  limit: Type.Optional(
    Type.String({ pattern: LIMIT_PATTERN, default: '100', description: 'Rows of a page.', examples: ['100'] }),
  ),
}
const period = { from: day('First day, in UTC.', '2026-11-01'), to: day('Last day, included.', '2026-11-30') }
const UUID = '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11'
const HASH = `0x${'ab'.repeat(32)}`
const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const at: Column = ['time', 'When.', '2026-11-26T11:00:00.000Z']

type Options = Readonly<{ role?: OperatorRole; query?: Readonly<Record<string, TSchema>>; pages?: boolean }>
type Texts = readonly [path: string, summary: string, description: string]

function list(
  [path, summary, description]: Texts,
  columns: Readonly<Record<string, Column>>,
  options: Options = {},
): AdminRead {
  const { role = 'viewer', query = {}, pages = false } = options
  const members = { ...query, ...(pages ? page : {}) }
  return {
    path: `/admin/v1/${path}`,
    summary,
    description,
    role,
    query: Type.Object(members),
    row: columnsOf(columns),
    isList: true,
  }
}

const one = (...[texts, columns, options]: Parameters<typeof list>): AdminRead => ({
  ...list(texts, columns, options),
  isList: false,
})

const payout: Readonly<Record<string, Column>> = {
  id: ['text', 'Id of the payout.', UUID],
  purpose: ['text', 'Payout, refund, sweep, gas, withdrawal, split or consolidate.', 'payout'],
  state: ['text', '`reserved`, `signed`, `confirmed` or `void`.', 'reserved'],
  attention: ['text?', 'Why it waits for an operator.', 'PAYEE'],
  network: ['text', 'Network.', 'eth'],
  currency: ['text', 'Currency as `ticker@network`.', 'usdt@eth'],
  amount: ['text', 'Amount in coins.', '100.5'],
  address: ['text', 'Recipient.', ADDRESS],
  memo: ['text?', 'Its memo.', null],
  exchangeId: ['text?', 'Exchange that it belongs to.', UUID],
  transactionId: ['text?', 'Our transaction that pays it.', UUID],
  txHashes: ['list?', 'Hashes of its attempts, the oldest first.', [HASH]],
  waitsFor: ['text?', 'What a postponed payout waits for.', null],
  heldUntil: ['time?', 'Not paid before.', null],
  reversed: ['flag', 'Reversed by a reorganisation after its exchange had closed.', false],
  createdAt: at,
}

const exchangeReads = {
  overview: one(
    ['overview', 'Overview', 'What needs attention, and the last 24 hours. The sums are at most a minute old.'],
    {
      openByStatus: ['record', 'Open exchanges by status.', { pending: 3, exchanging: 1 }],
      oldestStepAt: ['time?', 'Since when the longest waiting step is due; null = none is.', null],
      heldExecutions: ['whole', 'Deposits that wait for an operator, at most 1000.', 0],
      heldPayouts: ['whole', 'Payouts that wait for an operator, at most 1000.', 0],
      openRequests: ['whole', 'Acts that wait for a second person, at most 1000.', 0],
      alarms: ['record', 'Unacknowledged alarms by severity.', { critical: 0, warning: 1 }],
      pauses: ['whole', 'Pauses in force.', 0],
      networks: ['record', 'Lag in seconds since each network was last at its head.', { btc: 2 }],
      created24h: ['whole', 'Exchanges created in the last 24 hours.', 120],
      finished24h: ['whole', 'Of these, finished.', 100],
      volume24h: ['record', 'Ordered amounts of the last 24 hours by source currency, in coins.', { 'btc@btc': '1.5' }],
      revenueToday: ['record', 'Spread earned today (UTC) by currency, in coins.', { 'usdt@eth': '12.5' }],
      readiness: ['list', 'Why the process is not ready.', []],
    },
  ),
  exchanges: list(
    [
      'exchanges',
      'List exchanges',
      'Newest first. `find` searches by id, deposit address, recipient, or the hash of a deposit, payout or refund.',
    ],
    {
      id: ['text', 'Id of the exchange.', UUID],
      partner: ['text?', 'Name of the partner.', 'acme'],
      type: ['text', '`standard` or `private`.', 'standard'],
      flow: ['text', '`standard` or `fixed-rate`.', 'standard'],
      status: ['text', 'Status.', 'pending'],
      reason: ['text?', 'Reason of the status.', null],
      from: ['text', 'Source currency.', 'btc@btc'],
      to: ['text', 'Target currency.', 'usdt@eth'],
      fromAmount: ['text', 'Ordered amount in coins.', '0.5'],
      toAmount: ['text', 'Quoted amount in coins.', '32000'],
      foundBy: ['text?', 'What `find` matched.', 'deposit address'],
      createdAt: at,
    },
    {
      pages: true,
      query: {
        find: text('Id, address or hash.', ADDRESS, 300),
        status: oneOf(exchangeStatuses, 'Status.'),
        partner: text('Name of the partner.', 'acme', 64),
        currency: text('Source currency as `ticker@network`; needed by `amount`.', 'btc@btc'),
        amount: text('Ordered amount in coins.', '0.5', 80),
      },
    },
  ),
  exchange: one(
    [
      'exchanges/story',
      'One exchange as a story',
      'Terms, timeline, deposits, payouts, ledger entries, guards and explorer links.',
    ],
    {
      exchange: ['record', 'Its row: terms, status, addresses, clocks.', { id: UUID, status: 'finished' }],
      timeline: ['list', 'Events in order.', []],
      transfers: ['list', 'Deposits, payouts and refunds with their transactions and explorer links.', []],
      ledger: ['list', 'Journal entries with their postings.', []],
      facts: ['list', 'Everything that is stored, part by part.', []],
      plan: ['record?', 'Of a private exchange: its plan.', null],
    },
    {
      query: { id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the exchange.', examples: [UUID] }) },
    },
  ),
  held: list(
    ['held', 'List held deposits', 'Executions that wait for an operator, the longest waiting first.'],
    {
      exchangeId: ['text', 'Exchange.', UUID],
      partner: ['text?', 'Name of the partner.', 'acme'],
      executionId: ['text', 'Execution.', UUID],
      depositId: ['text', 'Deposit.', '4711'],
      txHash: ['text', 'Its transaction.', HASH],
      currency: ['text?', 'Currency; null = not listed.', 'btc@btc'],
      amount: ['text?', 'Amount in coins.', '0.5'],
      units: ['text', 'Amount in base units.', '50000000'],
      reason: ['text?', 'Why it is held.', 'PRICE_GUARD'],
      decision: ['text?', 'What an operator decided.', null],
      onRelease: ['text?', 'Where a release resumes.', 'exchanging'],
      actions: ['record', 'What can be done, and its meaning.', { 'exchanges-release': 'resumes it' }],
      since: at,
    },
    { pages: true },
  ),
  payouts: list(
    [
      'payouts',
      'List payouts',
      'Newest first. `attention=held` lists those that wait for an operator, the oldest first.',
    ],
    payout,
    {
      pages: true,
      query: {
        state: oneOf(['reserved', 'signed', 'confirmed', 'void'], 'State.'),
        attention: oneOf(['held'], 'Only those that wait for an operator.'),
      },
    },
  ),
  queue: list(
    ['payouts/queue', 'Queue of payouts', 'Unsigned payouts that are not held, in the order in which they are paid.'],
    payout,
    { query: { network: Type.String({ minLength: 1, maxLength: 64, description: 'Network.', examples: ['eth'] }) } },
  ),
  unclaimed: list(
    ['unclaimed', 'List unclaimed deposits', 'Deposits of closed exchanges, with an unknown memo, and at hot wallets.'],
    {
      depositId: ['text', 'Deposit.', '4711'],
      exchangeId: ['text?', 'Its closed exchange.', null],
      txHash: ['text', 'Transaction.', HASH],
      currency: ['text', 'Currency.', 'btc@btc'],
      amount: ['text', 'Amount in coins.', '0.5'],
    },
    { pages: true },
  ),
} as const

const moneyReads = {
  wallets: list(
    ['wallets', 'Hot wallets', 'By the ledger: what each holds, what of it is available, and what is free capital.'],
    {
      currency: ['text', 'Currency.', 'btc@btc'],
      held: ['text', 'Held in coins.', '10.5'],
      available: ['text', 'Available to payouts.', '9.5'],
      freeCapital: ['text', 'What the treasury may withdraw.', '3.5'],
      address: ['text?', 'Address of the hot wallet.', ADDRESS],
      addressUrl: [
        'text?',
        'Its page at an explorer.',
        'https://etherscan.io/address/0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
      ],
    },
  ),
  trialBalance: list(
    [
      'ledger/trial-balance',
      'Trial balance',
      'Opening balance, debits, credits and closing balance of each kind of account; debits are positive.',
    ],
    {
      account: ['text', 'Kind of account.', 'asset:wallet'],
      currency: ['text', 'Currency.', 'btc@btc'],
      opening: ['text', 'Opening balance.', '1'],
      debits: ['text', 'Debits.', '2'],
      credits: ['text', 'Credits.', '1.5'],
      closing: ['text', 'Closing balance.', '1.5'],
    },
    { query: period },
  ),
  ledgerFaults: one(
    ['ledger/faults', 'Check the ledger', 'Whether balances and postings agree. Reads the whole ledger.'],
    {
      faults: ['whole', 'Number of faults, at most 1000.', 0],
      list: ['list', 'The faults.', []],
    },
  ),
  ledgerEntries: list(
    ['ledger/entries', 'Journal entries of an exchange', 'In the order of their time.'],
    {
      id: ['text', 'Id of the entry.', 'deposit:4711:credit:1'],
      event: ['text', 'What happened.', 'deposit credited'],
      at,
      postings: ['list', 'Postings in order.', []],
    },
    { query: { exchangeId: Type.String({ minLength: 1, maxLength: 64, description: 'Exchange.', examples: [UUID] }) } },
  ),
  reconciliation: list(
    [
      'reconciliation',
      'Reconciliation',
      'The wallets by the ledger, and what alarms report as different on the chains.',
    ],
    {
      network: ['text', 'Network.', 'eth'],
      currency: ['text', 'Currency.', 'eth@eth'],
      low: ['text', 'Least balance by the ledger.', '10'],
      high: ['text', 'Most, with unconfirmed transactions.', '10.5'],
      alarms: ['list', 'Alarms about differences of this network.', []],
    },
  ),
  revenue: list(
    ['reports/revenue', 'Revenue', 'What exchanges earned.'],
    {
      group: ['text', 'Day, pair, partner or exchange.', '2026-11-26'],
      currency: ['text', 'Currency.', 'usdt@eth'],
      exchanges: ['whole', 'Number of exchanges.', 12],
      spread: ['text', 'Spread.', '12.5'],
      partnerFees: ['text', 'Fees owed to partners.', '3'],
      networkFees: ['text', 'Network fees charged.', '1'],
      dust: ['text', 'Dust.', '0'],
    },
    { query: { ...period, by: oneOf(['day', 'pair', 'partner', 'exchange'], 'What rows are grouped by.') } },
  ),
  costs: list(
    ['reports/costs', 'Costs', 'What networks were paid.'],
    {
      group: ['text?', 'Day, pair, partner or exchange.', '2026-11-26'],
      currency: ['text', 'Currency.', 'eth@eth'],
      transactions: ['whole', 'Number of transactions.', 12],
      payouts: ['text', 'For payouts and refunds.', '0.01'],
      sweeps: ['text', 'For sweeps, splits and merges.', '0.001'],
      gas: ['text', 'For supplying gas.', '0'],
      stranded: ['text', 'Gas that stays on deposit addresses.', '0'],
    },
    { query: { ...period, by: oneOf(['day', 'pair', 'partner', 'exchange'], 'What rows are grouped by.') } },
  ),
  missingPayouts: list(
    [
      'signer/missing',
      'Payouts that the database does not know',
      'Sent before a restore, by the journals of the signers.',
    ],
    {
      network: ['text', 'Network.', 'eth'],
      txHash: ['text', 'Transaction.', HASH],
      payoutId: ['text?', 'Payout.', UUID],
      detail: ['record', 'The rest of the row.', {}],
    },
  ),
} as const

const marketReads = {
  prices: list(['prices', 'Reference prices', 'The prices in use, in US dollars.'], {
    key: ['text', 'Price key.', 'btc'],
    bid: ['text', 'Bid.', '64000.1'],
    ask: ['text', 'Ask.', '64010'],
    at: ['time', 'Time of the oldest price.', '2026-11-26T11:00:00.000Z'],
  }),
  venues: list(['venues', 'Venues', 'Where conversions are filled, and what they can deliver now.'], {
    venue: ['text', 'Venue.', 'inventory'],
    currency: ['text', 'Currency.', 'usdt@eth'],
    available: ['text?', 'What can be paid out now, in coins; null = without a limit.', '50000'],
    paused: ['flag', 'Paused.', false],
  }),
  networks: list(['networks', 'Networks', 'Endpoints, the last recorded block, lag and pauses.'], {
    network: ['text', 'Network.', 'btc'],
    family: ['text', 'Family.', 'bitcoin'],
    endpoints: ['list', 'Hosts of its nodes; never a path, which may hold a key.', ['btc-a.example']],
    height: ['text?', 'The last recorded block.', '840000'],
    scannedAt: ['time?', 'When it was recorded.', '2026-11-26T11:00:00.000Z'],
    caughtUpAt: ['time?', 'When the watcher was last at the head.', '2026-11-26T11:00:00.000Z'],
    lagSeconds: ['whole?', 'Seconds since then.', 2],
    pauses: ['list', 'Scopes of pauses that concern it.', []],
  }),
  dexes: list(['dexes', 'DEXes', 'DEXes of each network, with their pauses.'], {
    network: ['text', 'Network.', 'base'],
    dex: ['text', 'Name.', 'uniswap-v3'],
    kind: ['text', 'Kind of its pools.', 'uniswap-v3'],
    scope: ['text', 'Scope of a pause.', 'dex:uniswap-v3@base'],
    paused: ['flag', 'Paused.', false],
  }),
  pools: list(['pools', 'Pools', 'State of the pools of each network: number, block and depth.'], {
    network: ['text', 'Network.', 'base'],
    pools: ['whole', 'Number of pools.', 812],
    height: ['text', 'Block of their state.', '21000000'],
    savedAt: ['time', 'When the state was stored.', '2026-11-26T11:00:00.000Z'],
    depth: ['record', 'Alarm about depth, under `alarm`; null = none.', { alarm: null }],
    pauses: ['list', 'Paused pools and tokens.', []],
  }),
  tokens: list(
    ['tokens', 'Tokens of swaps', 'Tokens of a network, enabled first.'],
    {
      network: ['text', 'Network.', 'base'],
      address: ['text', 'Address.', ADDRESS],
      symbol: ['text', 'Symbol.', 'USDC'],
      name: ['text', 'Name.', 'USD Coin'],
      decimals: ['whole', 'Decimals.', 6],
      enabled: ['flag', 'Has a pool.', true],
      paused: ['flag', 'Routes avoid it.', false],
    },
    { query: { network: Type.String({ minLength: 1, maxLength: 64, description: 'Network.', examples: ['base'] }) } },
  ),
  swaps: list(
    ['swaps', 'List swaps', 'Newest first.'],
    {
      id: ['text', 'Id of the swap.', UUID],
      partner: ['text?', 'Name of the partner.', 'acme'],
      network: ['text', 'Network.', 'base'],
      hash: ['text', 'Transaction.', HASH],
      txUrl: ['text?', 'Its page at an explorer.', 'https://basescan.org/tx/0xab'],
      status: ['text', 'Status.', 'finished'],
      reason: ['text?', 'Why it failed.', null],
      reported: ['flag', 'The partner reported it.', true],
      tokenIn: ['text', 'Token.', ADDRESS],
      amountIn: ['text', 'Amount.', '1.5'],
      tokenOut: ['text', 'Token.', ADDRESS],
      expected: ['text', 'Quoted amount.', '4800'],
      received: ['text?', 'Received amount.', '4799'],
      sender: ['text', 'Account.', ADDRESS],
      recipient: ['text', 'Recipient.', ADDRESS],
      createdAt: at,
    },
    {
      pages: true,
      query: {
        status: oneOf(swapStatuses, 'Status.'),
        hash: text('Hash of the transaction.', HASH),
        partner: text('Name of the partner.', 'acme', 64),
      },
    },
  ),
  swapFees: list(['swap-fees', 'Held swap fees', 'Swap fees at your addresses, by the ledger.'], {
    address: ['text', 'Your address.', ADDRESS],
    currency: ['text', 'Token and network.', `${ADDRESS}@eth`],
    amount: ['text', 'Amount.', '12.5'],
  }),
  unclaimedFees: list(['swap-fees/unclaimed', 'Swap fees without a known partner', 'Newest first, at most 1000.'], {
    network: ['text', 'Network.', 'base'],
    hash: ['text', 'Transaction.', HASH],
    token: ['text', 'Token.', ADDRESS],
    units: ['text', 'Base units.', '12500000'],
    sender: ['text', 'Sender.', ADDRESS],
    feeTo: ['text', 'Your address that received it.', ADDRESS],
    height: ['whole', 'Block.', 21_000_000],
  }),
} as const

const partnerReads = {
  partners: list(['partners', 'List partners', 'With their limits, recipients and keys; never a secret.'], {
    id: ['text', 'Id.', UUID],
    name: ['text', 'Name.', 'acme'],
    feeBps: ['whole', 'Fee in basis points.', 25],
    suspended: ['flag', 'Suspended.', false],
    openExchangesMax: ['whole', 'Maximum number of open exchanges.', 10_000],
    rateLimitPerMinute: ['whole', 'Weighted requests per minute.', 6_000],
    strict: ['flag', 'Refuses unknown members.', false],
    refundToSender: ['flag', 'Refunds without an address go to the sender.', false],
    recipients: ['list', 'Default recipients.', []],
    keys: ['list', 'Keys without secrets.', []],
  }),
  balances: list(
    ['partners/balances', 'Balances of a partner', 'What we owe it.'],
    { currency: ['text', 'Currency.', 'usdt@eth'], amount: ['text', 'Amount.', '12.5'] },
    {
      query: {
        name: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the partner.', examples: ['acme'] }),
      },
    },
  ),
} as const

const serviceReads = {
  pauses: list(['pauses', 'Pauses in force', 'With who paused and why.'], {
    scope: ['text', 'Scope.', 'network:btc'],
    reason: ['text', 'Why.', 'node update'],
    actor: ['text', 'Who.', 'operator:ada@example.com'],
    at,
  }),
  alarms: list(['alarms', 'Open alarms', 'The most severe first.'], {
    subject: ['text', 'Subject.', 'unclaimed:btc'],
    severity: ['text', '`critical`, `warning` or `info`.', 'warning'],
    alarm: ['text', 'What happened and what to do.', 'coins arrived at the hot wallet'],
    detail: ['record', 'Facts.', {}],
    raisedAt: at,
    acknowledgedBy: ['text?', 'Who works on it.', null],
  }),
  rescans: list(['rescans', 'Rescans', 'The newest 100.'], {
    id: ['text', 'Id.', '1'],
    network: ['text', 'Network.', 'btc'],
    nextHeight: ['text', 'Next block.', '840001'],
    toHeight: ['text', 'Last block.', '840010'],
    found: ['whole', 'Missed deposits that were recorded.', 0],
    failure: ['text?', 'Why a block cannot be read.', null],
    ended: ['flag', 'Has ended.', false],
    createdAt: at,
  }),
  audit: list(
    ['audit', 'Audit log', 'What operators did, newest first, with the hash of each row.'],
    {
      id: ['text', 'Number.', '42'],
      at,
      actor: ['text', 'Who.', 'operator:ada@example.com'],
      act: ['text', 'What.', 'exchange release'],
      subject: ['text', 'About what.', UUID],
      reason: ['text', 'Why.', 'the customer sent a passport'],
      detail: ['record', 'Facts.', {}],
      before: ['record?', 'State before.', null],
      after: ['record?', 'State after.', null],
      hash: ['text', 'Hash of the row, which covers the row before.', 'ab'.repeat(32)],
    },
    {
      pages: true,
      query: {
        subject: text('Only acts about this.', UUID, 300),
        actor: text('Only acts of this actor.', 'operator:ada@example.com'),
      },
    },
  ),
  auditVerification: one(
    [
      'audit/verification',
      'Verify the audit log',
      'Computes the hash chain. Keep the head and compare it with the next one.',
    ],
    {
      kind: ['text', '`whole` or `broken`.', 'whole'],
      acts: ['whole?', 'Number of rows.', 42],
      head: ['text?', 'Hash of the last row.', 'ab'.repeat(32)],
      row: ['text?', 'The first row that is wrong.', null],
      why: ['text?', 'What is wrong.', null],
    },
  ),
  settings: one(
    ['settings', 'Settings in force', 'Secrets are masked, and URLs reduced to their host.'],
    {
      settings: ['record', 'The settings of this process.', { environment: 'production' }],
    },
    { role: 'support' },
  ),
  actions: list(['actions', 'Acts and roles', 'Every act with its least role and whether it needs a second person.'], {
    action: ['text', 'Name.', 'exchanges-release'],
    path: ['text', 'Path of its POST.', '/admin/v1/exchanges/release'],
    summary: ['text', 'What it does.', 'Decide about a held deposit: release'],
    role: ['text', 'Least role.', 'treasurer'],
    twoPersons: ['flag', 'Needs a second person here.', true],
    approver: ['text', 'Least role of the second person.', 'treasurer'],
    permitted: ['flag', 'Your role may ask for it.', true],
  }),
  requests: list(
    ['requests', 'Acts that were asked for', 'Newest first.'],
    {
      id: ['text', 'Id.', UUID],
      action: ['text', 'Act.', 'exchanges-release'],
      arguments: ['record', 'Its arguments, without secrets.', { exchangeId: UUID }],
      reason: ['text', 'Why.', 'the customer sent a passport'],
      state: ['text', '`asked`, `done`, `failed`, `rejected`, `withdrawn` or `expired`.', 'asked'],
      askedBy: ['text', 'Who asked.', 'ada@example.com'],
      askedAt: at,
      expiresAt: at,
      decidedBy: ['text?', 'The second person.', null],
      decidedAt: ['time?', 'When.', null],
      result: ['record?', 'What the act answered.', null],
    },
    { pages: true, query: { state: oneOf(['asked'], 'Only those that wait.') } },
  ),
  operators: list(
    ['operators', 'Operators', 'Identities without secrets.'],
    {
      login: ['text', 'Login.', 'ada@example.com'],
      role: ['text', `One of ${operatorRoles.join(', ')}.`, 'treasurer'],
      disabled: ['flag', 'Disabled.', false],
      accepted: ['flag', 'The invitation was accepted.', true],
      authenticator: ['flag', 'Has an authenticator app.', true],
      passkeys: ['whole', 'Number of passkeys.', 1],
      createdBy: ['text', 'Who invited.', 'operator:bob@example.com'],
      createdAt: at,
      lastLoginAt: ['time?', 'Last login.', null],
    },
    { role: 'support' },
  ),
  sessions: list(
    ['sessions', 'Sessions', 'Newest first: your own, and as an admin those of all.'],
    {
      id: ['text', 'Id.', UUID],
      login: ['text', 'Operator.', 'ada@example.com'],
      kind: ['text', '`cookie` or `bearer`.', 'cookie'],
      ip: ['text', 'Address at the login.', '192.0.2.7'],
      userAgent: ['text', 'Program at the login.', 'Mozilla/5.0'],
      createdAt: at,
      lastUsedAt: at,
      expiresAt: at,
      revoked: ['flag', 'Ended before its time.', false],
      current: ['flag', 'This session.', true],
    },
    { pages: true },
  ),
} as const

/** Everything that an operator reads. */
export const adminReads = {
  ...exchangeReads,
  ...moneyReads,
  ...marketReads,
  ...partnerReads,
  ...serviceReads,
} as const satisfies Readonly<Record<string, AdminRead>>
export type AdminReadName = keyof typeof adminReads
