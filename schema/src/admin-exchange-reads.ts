import Type from 'typebox'
import { ADDRESS, at, type Column, HASH, list, one, oneOf, period, text, UUID } from './admin-read.ts'
import { exchangeStatuses } from './cross-chain.ts'

const TX_URL = `https://etherscan.io/tx/${HASH}`

const payout = {
  id: ['text', 'Id of the payout.', UUID],
  purpose: ['text', 'Payout, refund, sweep, gas, withdrawal, split or consolidate.', 'payout'],
  state: ['text', '`reserved`, `signed`, `confirmed` or `void`.', 'reserved'],
  attention: ['text?', 'Why it waits for an operator.', 'PAYEE'],
  network: ['text', 'Network.', 'eth'],
  currency: ['text', 'Currency as `ticker@network`.', 'usdt@eth'],
  amount: ['text', 'Amount in coins.', '100.5'],
  address: ['text', 'Recipient.', ADDRESS],
  addressUrl: ['text?', 'Its page at an explorer.', `https://etherscan.io/address/${ADDRESS}`],
  memo: ['text?', 'Its memo.', null],
  exchangeId: ['text?', 'Exchange that it belongs to.', UUID],
  transactionId: ['text?', 'Our transaction that pays it.', UUID],
  txHashes: ['list?', 'Hashes of its attempts, the oldest first.', [HASH]],
  links: ['list', 'These hashes with their pages at an explorer.', [{ hash: HASH, url: TX_URL }]],
  waitsFor: ['text?', 'What a postponed payout waits for.', null],
  heldUntil: ['time?', 'Not paid before.', null],
  acts: [
    'list',
    'What an operator can decide about it: `payouts-release`, `payouts-drop`. Empty for one of an exchange that is held: its deposit is decided.',
    ['payouts-release'],
  ],
  reversed: ['flag', 'Reversed by a reorganisation after its exchange had closed.', false],
  createdAt: at,
} as const satisfies Readonly<Record<string, Column>>

export const exchangeReads = {
  overview: one(
    ['overview', 'Overview', 'What needs attention, and the last 24 hours. The sums are at most a minute old.'],
    {
      openByStatus: ['record', 'Open exchanges by status.', { pending: 3, exchanging: 1 }],
      oldestStepAt: ['time?', 'Since when the longest waiting step is due; null = none is.', null],
      heldExecutions: ['whole', 'Deposits that wait for an operator, at most 1000.', 0],
      heldPayouts: ['whole', 'Payouts that wait for an operator, at most 1000.', 0],
      openRequests: ['whole', 'Actions that wait for a second person, at most 1000.', 0],
      alarms: ['record', 'Unacknowledged alarms by severity.', { critical: 0, warning: 1 }],
      pauses: ['whole', 'Pauses in force.', 0],
      networks: ['record', 'Lag in seconds since each network was last at its head.', { btc: 2 }],
      created24h: ['whole', 'Exchanges created in the last 24 hours.', 120],
      finished24h: ['whole', 'Of these, finished.', 100],
      volume24h: [
        'record',
        'Deposits of customers that were credited in the last 24 hours, by currency, in coins.',
        { 'btc@btc': '1.5' },
      ],
      hours: [
        'list',
        'The hours (UTC) since 24 hours ago, the oldest first: exchanges created in each, and how many of them finished.',
        [{ at: '2026-11-26T11:00:00.000Z', created: 5, finished: 4 }],
      ],
      revenueToday: [
        'record',
        'Spread earned today (UTC) by currency, in coins; below zero where conversions lost more than they earned.',
        { 'usdt@eth': '12.5' },
      ],
      readiness: ['list', 'Why the process is not ready.', []],
    },
  ),
  exchanges: list(
    [
      'exchanges',
      'List exchanges',
      'Newest first. `find` searches by id, `externalId`, deposit address, recipient, refund address, or the hash of a deposit, payout or refund; `amount` also by the 200 newest deposits of that amount. A page of a partner with a currency, or of an amount with a partner or a status, examines 5000 rows: it may have fewer than `limit`, and `next` continues after them.',
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
      foundBy: ['text?', 'What `find` or `amount` matched.', 'deposit address'],
      createdAt: at,
    },
    {
      pages: true,
      query: {
        find: text('Id, `externalId`, address or hash.', ADDRESS, 300),
        status: oneOf(exchangeStatuses, 'Status.'),
        partner: text('Name of the partner.', 'acme', 64),
        currency: text('Source currency as `ticker@network`; needed by `amount`.', 'btc@btc'),
        amount: text('Ordered amount, or amount of a deposit, in coins.', '0.5', 80),
      },
    },
  ),
  exchange: one(
    [
      'exchanges/story',
      'One exchange in full',
      'Terms, timeline, deposits, payouts, ledger entries, guards and explorer links.',
    ],
    {
      exchange: [
        'record',
        'Its row: terms, status, addresses, clocks. `rate`: what the quote gives for one coin; `quotedFees`: its fees in coins of the target (`service`, `partner`, `network`), null without a fixed rate; `via`: the intermediary of a private exchange.',
        { id: UUID, status: 'finished' },
      ],
      addresses: ['list', 'Deposit addresses, recipient and refund address with their pages at an explorer.', []],
      guards: [
        'record',
        'End of the lock of a fixed rate and of the inclusion in a block, tolerance, maximum at the create; and under `price` what the price guard allows, what it found when it held a deposit (`whenHeld`), and what it finds at current prices (`now`).',
        {
          ...{ fixedUntil: null, includedBy: null, tolerancePercent: null, leastPercent: null, maxAmount: '2.5' },
          price: { allowedPercent: '10', whenHeld: [], now: [] },
        },
      ],
      timeline: ['list', 'Events in order.', []],
      transfers: ['list', 'Deposits, payouts and refunds with their transactions and explorer links.', []],
      orders: ['list', 'Conversions at venues.', []],
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
      network: ['text', 'Its network.', 'btc'],
      txHash: ['text', 'Its transaction.', HASH],
      txUrl: ['text?', 'Its page at an explorer.', TX_URL],
      currency: ['text?', 'Currency; null = not listed.', 'btc@btc'],
      amount: ['text?', 'Amount in coins.', '0.5'],
      units: ['text', 'Amount in base units.', '50000000'],
      reason: ['text?', 'Why it is held.', 'PRICE_GUARD'],
      decision: ['text?', 'What an operator decided.', null],
      onRelease: ['text?', 'Where a release resumes.', 'exchanging'],
      recipient: ['text?', 'Recipient of the exchange; null = the balance of the partner.', ADDRESS],
      recipientMemo: ['text?', 'Its memo.', null],
      refundAddress: ['text?', 'Refund address; null = none was named.', ADDRESS],
      refundMemo: ['text?', 'Its memo.', null],
      quoted: ['text', 'Quoted amount in coins.', '32000'],
      quotedCurrency: ['text', 'Its currency.', 'usdt@eth'],
      due: ['text?', 'What was converted and is owed, in coins; null = nothing was converted.', null],
      dueCurrency: ['text', 'Its currency.', 'usdt@eth'],
      actions: ['record', 'What can be done, and its meaning.', { 'exchanges-release': 'resumes it' }],
      since: at,
    },
    { pages: true },
  ),
  decisions: list(
    [
      'held/decisions',
      'What decisions about a held deposit do',
      'What each decision would pay now, without carrying it out. Empty if the deposit is not held, or if several are and none is named.',
    ],
    {
      action: ['text', 'Action.', 'exchanges-release'],
      meaning: ['text', 'What it means.', 'resumes it where it was held'],
      pays: ['text?', 'Amount in coins; null = nothing, or not known now.', '0.0995'],
      currency: ['text?', 'Its currency.', 'eth@eth'],
      to: ['text?', 'Address that is paid; null = none, as `note` says.', ADDRESS],
      memo: ['text?', 'Its memo.', null],
      fee: ['text?', 'Network fee that is deducted, in coins; null = none is, or it was deducted before.', '0.0002'],
      note: ['text?', 'What is an estimate, what is missing, and what prevents it.', 'The amount is an estimate.'],
    },
    {
      query: {
        exchangeId: Type.String({ minLength: 1, maxLength: 64, description: 'Exchange.', examples: [UUID] }),
        deposit: text('Number or transaction of the deposit, if several are held.', '4711', 128),
      },
    },
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
    {
      pages: true,
      query: { network: Type.String({ minLength: 1, maxLength: 64, description: 'Network.', examples: ['eth'] }) },
    },
  ),
  unclaimed: list(
    ['unclaimed', 'List unclaimed deposits', 'Deposits of closed exchanges, with an unknown memo, and at hot wallets.'],
    {
      depositId: ['text', 'Deposit.', '4711'],
      exchangeId: ['text?', 'Its closed exchange.', null],
      txHash: ['text', 'Transaction.', HASH],
      txUrl: ['text?', 'Its page at an explorer.', TX_URL],
      currency: ['text', 'Currency.', 'btc@btc'],
      amount: ['text', 'Amount in coins.', '0.5'],
    },
    { pages: true },
  ),
} as const

const groupedPeriod = {
  ...period,
  by: oneOf(['day', 'pair', 'partner', 'exchange'], 'What rows are grouped by.'),
  cursor: text('`next` of the page before. A page has 10,000 rows.', 'ZXRoQGV0aAoyMDI2LTExLTI2', 1_000),
}

export const moneyReads = {
  wallets: list(
    [
      'wallets',
      'Hot wallets',
      'By the ledger: what each holds, what of it is available, what is kept for network fees, and what is free capital.',
    ],
    {
      currency: ['text', 'Currency.', 'btc@btc'],
      held: ['text', 'Held in coins.', '10.5'],
      available: ['text', 'Available to payouts.', '9.5'],
      freeCapital: ['text', 'What the treasury may withdraw.', '3.5'],
      keptForFees: ['text', 'What the wallet keeps for network fees in this currency; 0 for tokens.', '0.004'],
      missingFees: ['text?', 'What the native coin lacks of these fees: until it has it, nothing is free.', null],
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
    ['reports/revenue', 'Revenue', 'What exchanges and conversions of partners’ balances earned.'],
    {
      group: ['text?', 'Day, pair, partner or exchange.', '2026-11-26'],
      currency: ['text', 'Currency.', 'usdt@eth'],
      exchanges: ['whole', 'Number of exchanges.', 12],
      spread: ['text', 'Spread; below zero where conversions lost more than they earned.', '12.5'],
      partnerFees: ['text', 'Fees owed to partners.', '3'],
      networkFees: ['text', 'Network fees charged.', '1'],
      dust: ['text', 'Dust.', '0'],
    },
    { query: groupedPeriod },
  ),
  costs: list(
    ['reports/costs', 'Costs', 'What networks were paid, and what was lost with deposits that left their chain.'],
    {
      group: ['text?', 'Day, pair, partner or exchange.', '2026-11-26'],
      currency: ['text', 'Currency.', 'eth@eth'],
      transactions: ['whole', 'Number of transactions.', 12],
      payouts: ['text', 'For payouts and refunds.', '0.01'],
      sweeps: ['text', 'For sweeps, splits and merges.', '0.001'],
      gas: ['text', 'For supplying gas.', '0'],
      stranded: ['text', 'Gas that stays on deposit addresses.', '0'],
      lost: ['text', 'Deposits that left the chain after their payout, and paid fees of reversed conversions.', '0'],
    },
    { query: groupedPeriod },
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
