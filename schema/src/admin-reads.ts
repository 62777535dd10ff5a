import Type, { type Static } from 'typebox'
import { operatorRoles } from './admin-action.ts'
import { exchangeReads, moneyReads } from './admin-exchange-reads.ts'
import { ADDRESS, type AdminRead, at, HASH, list, one, oneOf, text, UUID } from './admin-read.ts'
import { webhookReads } from './admin-webhooks.ts'
import { swapStatuses } from './defi.ts'

export type { AdminRead } from './admin-read.ts'

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
  pools: list(['pools', 'Pools', 'State of the pools of each network: block, depth and pauses.'], {
    network: ['text', 'Network.', 'base'],
    pools: ['whole?', 'Pools that routes use; null = this process does not follow the network.', 412],
    height: ['text?', 'Block of their state.', '21000000'],
    readAt: ['time?', 'When this process read the state.', '2026-11-26T11:00:00.000Z'],
    savedAt: ['time?', 'When the state was stored for the next start; null = it is not.', '2026-11-26T11:00:00.000Z'],
    depth: [
      'record',
      '`now`: usable liquidity of the pools of listed tokens, and `maximum`: the most of the last 24 hours, in coins of `currency`. `alarm`: the alarm about it; null = none.',
      { now: '1250.5', maximum: '1300', currency: 'ETH', alarm: null },
    ],
    pauses: ['list', 'Paused DEXes, pools and tokens.', []],
  }),
  networkPools: list(
    [
      'pools/list',
      'Pools of a network',
      'The pools that the router of this process follows, also paused ones, the deepest first. They are valued again every few seconds.',
    ],
    {
      network: ['text', 'Network.', 'base'],
      id: ['text', 'Address of the pool, or its id in a pool manager or vault.', ADDRESS],
      dex: ['text', 'DEX.', 'uniswap-v3'],
      tokens: [
        'list',
        'Its tokens; `symbol` null = the token is on no list.',
        [
          { address: ADDRESS, symbol: 'USDC' },
          { address: ADDRESS, symbol: null },
        ],
      ],
      depthUsd: [
        'whole?',
        'Usable liquidity in whole US dollars: what the poorer side pays until the price has moved by 2 %, times the part of the 2 % that the fee of the pool leaves. 0 without a known value; null without a price of the stablecoin.',
        125_000,
      ],
      scope: ['text', 'Scope of its pause.', `pool:${ADDRESS}@base`],
      pausedBy: ['list', 'Pauses of the pool, its DEX or its tokens.', []],
    },
    {
      pages: true,
      query: {
        network: Type.String({ minLength: 1, maxLength: 64, description: 'Network.', examples: ['base'] }),
        find: text('A part of an id, DEX, address or symbol.', 'USDC', 200),
      },
    },
  ),
  tokens: list(
    ['tokens', 'Tokens of swaps', 'Tokens of a network, enabled first.'],
    {
      network: ['text', 'Network.', 'base'],
      address: ['text', 'Address.', ADDRESS],
      symbol: ['text', 'Symbol.', 'USDC'],
      name: ['text', 'Name.', 'USD Coin'],
      decimals: ['whole', 'Decimals.', 6],
      enabled: ['flag', 'Has a pool.', true],
      scope: ['text', 'Scope of its pause.', `token:${ADDRESS.toLowerCase()}@base`],
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
  swapFees: list(
    ['swap-fees', 'Held swap fees', 'Swap fees at your addresses, by the ledger.'],
    {
      address: ['text', 'Your address.', ADDRESS],
      currency: ['text', 'Token and network.', `${ADDRESS}@eth`],
      amount: ['text', 'Amount.', '12.5'],
    },
    { pages: true },
  ),
  unclaimedFees: list(
    ['swap-fees/unclaimed', 'Swap fees without a known partner', 'The last found first.'],
    {
      network: ['text', 'Network.', 'base'],
      hash: ['text', 'Transaction.', HASH],
      token: ['text', 'Token.', ADDRESS],
      units: ['text', 'Base units.', '12500000'],
      sender: ['text', 'Sender.', ADDRESS],
      feeTo: ['text', 'Your address that received it.', ADDRESS],
      height: ['whole', 'Block.', 21_000_000],
    },
    { pages: true },
  ),
} as const

const partnerReads = {
  partners: list(
    ['partners', 'List partners', 'By name, with their limits, recipients and keys; never a secret.'],
    {
      id: ['text', 'Id.', UUID],
      name: ['text', 'Name.', 'acme'],
      feeBps: ['whole', 'Fee in basis points.', 25],
      suspended: ['flag', 'Suspended.', false],
      openExchangesMax: ['whole', 'Maximum number of open exchanges.', 10_000],
      rateLimitPerMinute: ['whole', 'Weighted requests per minute.', 6_000],
      strict: ['flag', 'Refuses unknown members.', false],
      refundToSender: ['flag', 'Refunds without an address go to the sender.', false],
      refundByLink: ['flag', 'Payers may name a missing refund address on the tracking page.', true],
      email: ['text?', 'Address for e-mails; null = no e-mails.', 'ops@acme.example'],
      recipients: ['list', 'Default recipients.', []],
      feeAddresses: [
        'list',
        'Addresses for swap fees by network. `address` null = none is in effect; `next` is a new address that the partner set and the time from which it is in effect, null = none waits.',
        [{ network: 'base', address: ADDRESS, next: { address: ADDRESS, from: '2026-11-28T11:00:00.000Z' } }],
      ],
      monthlyPayouts: [
        'list',
        'Currencies whose balance is paid to the default recipient every month, from this minimum in coins on.',
        [{ currency: 'usdt@eth', minimum: '50', address: ADDRESS, memo: null, convertsOthers: true }],
      ],
      keys: ['list', 'Keys without secrets.', []],
    },
    { pages: true, query: { find: text('A part of the name, or the whole id.', 'acme', 64) } },
  ),
  balances: list(
    ['partners/balances', 'Balances of a partner', 'What we owe it.'],
    { currency: ['text', 'Currency.', 'usdt@eth'], amount: ['text', 'Amount.', '12.5'] },
    {
      pages: true,
      query: {
        name: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the partner.', examples: ['acme'] }),
      },
    },
  ),
} as const

const serviceReads = {
  pauses: list(['pauses', 'Pauses in force', 'With who paused and why.'], {
    scope: ['text', 'Scope.', 'network:btc'],
    partner: ['text?', 'Of the scope `partner:ID`: the name of the partner.', null],
    reason: ['text', 'Why.', 'node update'],
    actor: ['text', 'Who.', 'operator:ada@example.com'],
    at,
  }),
  alarms: list(
    [
      'alarms',
      'Open alarms',
      'The most severe first, then the newest. At most the newest 100 of each kind and severity; the newest 1000 with `kind`.',
    ],
    {
      subject: ['text', 'Subject: its kind, then a colon.', 'unclaimed:btc'],
      severity: ['text', '`critical`, `warning` or `info`.', 'warning'],
      alarm: ['text', 'What happened and what to do.', 'coins arrived at the hot wallet'],
      detail: ['record', 'Facts.', {}],
      raisedAt: at,
      acknowledgedBy: ['text?', 'Who works on it.', null],
      more: [
        'whole',
        'On the last row of its kind and severity the number of older alarms of both that are not listed; otherwise 0.',
        0,
      ],
    },
    { query: { kind: text('Only alarms of this kind.', 'held') } },
  ),
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
        subject: text('Only actions about this.', UUID, 300),
        actor: text('Only actions of this actor.', 'operator:ada@example.com'),
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
      settings: [
        'record',
        'The settings of this process by their names, in the formats of the file; null = not set.',
        { environment: 'production', 'clocks.fixedLock': '20m' },
      ],
    },
    { role: 'support' },
  ),
  actions: list(
    ['actions', 'Actions and roles', 'Every action with its least role and whether it needs a second person.'],
    {
      action: ['text', 'Name.', 'exchanges-release'],
      path: ['text', 'Path of its POST.', '/admin/v1/exchanges/release'],
      summary: ['text', 'What it does.', 'Decide about a held deposit: release'],
      role: ['text', 'Least role.', 'treasurer'],
      twoPersons: ['flag', 'Needs a second person here.', true],
      approver: ['text', 'Least role of the second person.', 'treasurer'],
      permitted: ['flag', 'Your role may ask for it.', true],
    },
  ),
  requests: list(
    ['requests', 'Actions that were asked for', 'Newest first.'],
    {
      id: ['text', 'Id.', UUID],
      action: ['text', 'Action.', 'exchanges-release'],
      arguments: ['record', 'Its arguments, without secrets.', { exchangeId: UUID }],
      reason: ['text', 'Why.', 'the customer sent a passport'],
      state: ['text', '`asked`, `done`, `failed`, `rejected`, `withdrawn` or `expired`.', 'asked'],
      askedBy: ['text', 'Who asked.', 'ada@example.com'],
      askedAt: at,
      expiresAt: at,
      decidedBy: ['text?', 'The second person.', null],
      decidedAt: ['time?', 'When.', null],
      result: ['record?', 'What the action answered.', null],
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
  passkeys: list(['passkeys', 'Your passkeys', 'The oldest first; never those of another operator.'], {
    id: ['text', 'Id of the credential.', 'q3Jt0aXkR1c'],
    name: ['text', 'Name.', 'laptop'],
    createdAt: at,
    lastUsedAt: ['time?', 'Last login or confirmation by it.', null],
  }),
} as const

/** Everything that an operator reads. */
export const adminReads = {
  ...exchangeReads,
  ...moneyReads,
  ...marketReads,
  ...partnerReads,
  ...serviceReads,
  ...webhookReads,
} as const satisfies Readonly<Record<string, AdminRead>>
export type AdminReadName = keyof typeof adminReads
/** A row of a list, or what the read answers. */
export type AdminRow<Name extends AdminReadName> = Static<(typeof adminReads)[Name]['row']>
/** The path of each, by its name. */
export type AdminReadPaths = Readonly<{ [Name in AdminReadName]: (typeof adminReads)[Name]['path'] }>
