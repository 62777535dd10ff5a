import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { outputsAsTheyAre } from '../../../test/support/app-settings.ts'
import { findLedgerFaults } from '../../../test/support/ledger.ts'
import type { Database, Sql } from '../../src/adapters/postgres/core/database.ts'
import { readExecutions } from '../../src/adapters/postgres/exchange/executions.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { createInventoryVenue } from '../../src/adapters/venues/inventory.ts'
import type { Asset, AssetId } from '../../src/core/domain/asset.ts'
import type { Currency } from '../../src/core/domain/currency.ts'
import { journalEntry } from '../../src/core/domain/ledger/journal.ts'
import type { PayoutPurpose } from '../../src/core/domain/payout-purpose.ts'
import type { ScreeningSubject, Verdict } from '../../src/core/ports/screening.ts'
import { createCountFundings } from '../../src/exchange/deposits/count-fundings.ts'
import { createRecordBlocks } from '../../src/exchange/deposits/record-blocks.ts'
import { createRescanBlocks } from '../../src/exchange/deposits/rescan-blocks.ts'
import { createSweepDeposits } from '../../src/exchange/deposits/sweep-deposits.ts'
import type { Exchange, Flow } from '../../src/exchange/domain/exchange.ts'
import type { Decision } from '../../src/exchange/domain/lifecycle.ts'
import {
  type BookParts,
  bookParts,
  btc,
  eth,
  makeBook,
  makeCurrency,
  usdt,
} from '../../src/exchange/domain/pricing.fixture.ts'
import type { PrivatePlan, QuotedLegs } from '../../src/exchange/domain/private-plan.ts'
import { createAdvanceTransaction } from '../../src/exchange/payouts/advance-transaction.ts'
import { createDispatchPayouts } from '../../src/exchange/payouts/dispatch-payouts.ts'
import type { CreateOutcome, NewExchange } from '../../src/exchange/ports/store/exchanges.ts'
import type { Payout } from '../../src/exchange/ports/store/payouts.ts'
import type { Store } from '../../src/exchange/ports/store/store.ts'
import { createBookSnapshot } from '../../src/exchange/quotes/book-snapshot.ts'
import type { QuoteClock } from '../../src/exchange/quotes/quote-rate.ts'
import { guardDefaults, privacyDefaults, type ServiceSettings } from '../../src/exchange/settings.ts'
import { createStepExchange } from '../../src/exchange/settlement/step-exchange.ts'
import { createLog } from '../../src/lib/log.ts'
import { openTestDatabase } from '../adapters/postgres/database.ts'
import { payeeMacs } from '../payee-macs.ts'
import { createFakeChain, createFakeSigner, type FakeChain } from './fake-chain.ts'

export const partnerId = '018f2b1c-0000-7000-8000-000000000001'
/** Base units of one BTC, LTC or WBTC; the name is that of Bitcoin Core. */
export const COIN = 10n ** 8n
export const ETHER = 10n ** 18n
/** A second token with other decimals, so that a mix-up of two tokens changes the amount. */
export const wbtc = makeCurrency('wbtc', 'eth', { contract: '0xwbtc', priceKey: 'btc' })
/** The native currency of the third chain, the intermediary of private exchanges. */
export const ltc = makeCurrency('ltc', 'ltc', { dustUnits: 546n })
const currencies = [btc, eth, usdt, wbtc, ltc]
const USD = 10n ** 12n

const tokens = { ...bookParts.fees['eth']?.units, 'wbtc@eth': 650_000_000_000_000n }
export const market: BookParts = {
  ...bookParts,
  prices: { ...bookParts.prices, ltc: { bid: 100n * USD, ask: 100n * USD } },
  fees: {
    ...bookParts.fees,
    eth: { native: eth, units: tokens },
    ltc: { native: ltc, units: { 'ltc@ltc': 2_000n } },
  },
  reserves: { ...bookParts.reserves, 'wbtc@eth': COIN, 'ltc@ltc': 10_000n * COIN },
}

export type MoneyPathOptions = Readonly<{
  withLitecoin?: boolean
  /** Opens the database; a simulation gives it a clock of its own. */
  open?: typeof openTestDatabase
  clock?: QuoteClock
  settings?: Partial<ServiceSettings>
}>

/** The money path on a real database and fake chains, without a job runner: a test runs every step explicitly. */
export async function startMoneyPath(options: MoneyPathOptions = {}) {
  const { withLitecoin = false, open = openTestDatabase, clock = { now: Date.now, databaseNow: Date.now } } = options
  const { database, another, close } = await open()
  const store = createStore(database, payeeMacs)
  const fakes = {
    btc: createFakeChain(btc.network),
    eth: createFakeChain(eth.network),
    ltc: createFakeChain(ltc.network),
  }
  const chains = new Map([
    ['btc', fakes.btc.chain],
    ['eth', fakes.eth.chain],
    ...(withLitecoin ? [['ltc', fakes.ltc.chain] as const] : []),
  ])
  const signer = createFakeSigner()
  const books = createBookSnapshot(makeBook({ ...market, at: clock.now() + 3_600_000 }))
  const screening: { verdict: Verdict; screen(subject: ScreeningSubject): Promise<Verdict> } = {
    verdict: 'allow',
    screen: async () => screening.verdict,
  }
  const settings: ServiceSettings = {
    rateIdMs: 60_000,
    fixedLockMs: 1_200_000,
    expiryMs: 86_400_000,
    stuckMs: 60_000,
    fundingsAreCapital: true,
    limits: {
      perTransactionUsd: 20_000n * USD,
      hourUsd: 10n ** 9n * USD,
      dayUsd: 10n ** 9n * USD,
      partnerPercent: 25,
      networkPercent: 100,
      recipientPercent: 25,
    },
    guards: guardDefaults,
    coldAddresses: [],
    privacy: privacyDefaults,
    outputs: outputsAsTheyAre,
    ...options.settings,
  }
  const byId = new Map(currencies.map((currency) => [currency.asset.id, currency]))
  const assetById = (id: AssetId): Asset => byId.get(id)?.asset ?? btc.asset
  const dependencies = {
    store,
    chains,
    books,
    signer,
    settings,
    assetById,
    screening,
    clock,
    log: createLog({ level: 'silent', pretty: false }),
    priceKeyOf: (id: AssetId) => byId.get(id)?.definition.priceKey ?? '',
    currencyOf: (id: AssetId) => byId.get(id) ?? null,
    assetOf: (network: string, contract: string | null) =>
      currencies.find(({ asset }) => asset.network === network && asset.contract === contract)?.asset ?? null,
    venue: createInventoryVenue(),
  }
  const services = {
    step: createStepExchange(dependencies),
    dispatch: createDispatchPayouts(dependencies),
    advance: createAdvanceTransaction(dependencies),
    record: createRecordBlocks(dependencies),
    rescan: createRescanBlocks(dependencies),
    fund: createCountFundings(dependencies),
    sweep: createSweepDeposits(dependencies),
  }
  await store.wallets.registerAssets(currencies.map(({ asset }) => asset.id))
  for (const [id, { addresses, network }] of chains)
    await store.wallets.registerHotAddress(id, addresses.hot(), network.hotIndex)

  const queryIds = async (text: string) => (await database.query<{ id: string }>(text)).map(({ id }) => id)
  const runWatchers = async () => {
    for (const chain of chains.values()) {
      await services.record(chain)
      await services.fund(chain)
    }
  }
  /** Removes the queued jobs. Returns their keys, those of the rows that polling would find, and one dispatch per network. */
  const takeJobKeys = async () => {
    const queued = await queryIds('delete from graphile_worker._private_jobs returning key as id')
    const due = await queryIds(
      `select 'exchange:' || id as id from exchanges e where status not in ('pending', 'finished', 'failed', 'refunded')
         or exists (select 1 from exchange_checks c where c.exchange_id = e.id and c.next_check_at < clock_timestamp())`,
    )
    const live = await queryIds(
      "select 'transaction:' || id as id from transactions where state in ('live', 'confirmed')",
    )
    return [...new Set([...queued, ...due, ...live, ...[...chains.keys()].map((network) => `dispatch:${network}`)])]
  }
  const runJob = async (key: string) => {
    const [kind = '', id = ''] = key.split(':')
    if (kind === 'exchange') await services.step(id)
    if (kind === 'dispatch') await services.dispatch(id)
    if (kind === 'transaction') await services.advance(id)
  }
  const runJobs = async (rounds = 3) => {
    for (let n = 0; n < rounds; n++) for (const key of await takeJobKeys()) await runJob(key)
  }
  const runWorkers = async (times = 1) => {
    for (let n = 0; n < times; n++) {
      await runWatchers()
      await runJobs()
    }
  }
  /** Mines blocks on every chain, one at a time, and runs the workers after each. */
  const mineBlocks = async (count: number) => {
    for (let n = 0; n < count; n++) {
      fakes.btc.mine()
      fakes.eth.mine()
      if (withLitecoin) fakes.ltc.mine()
      await runWorkers()
    }
  }
  const fundWallets = async (units: Partial<Record<'btc' | 'eth' | 'ltc', bigint>>) => {
    if (units.btc) fakes.btc.pay(fakes.btc.chain.addresses.hot(), units.btc)
    if (units.eth) fakes.eth.pay(fakes.eth.chain.addresses.hot(), units.eth)
    if (units.ltc) fakes.ltc.pay(fakes.ltc.chain.addresses.hot(), units.ltc)
    await mineBlocks(3)
  }
  /** Whether refunds without a refund address go to the sender. */
  const setRefundToSender = (refundToSender: boolean) =>
    database.query(
      `insert into partners (id, name, refund_to_sender) values ($1, 'partner', $2)
       on conflict (id) do update set refund_to_sender = $2`,
      [partnerId, refundToSender],
    )
  /** Ends the delay of every payout. */
  const clearHolds = () => database.query('update payouts set held_until = null where held_until is not null')
  const actions = createActions({ store, fakes })
  /** An exchange whose payout in ether is reserved and can be signed. */
  const queuePayout = async (): Promise<Exchange> => {
    const exchange = await actions.createExchange()
    actions.payDeposit(exchange, COIN / 200n)
    await store.pauses.pause('payouts:eth', 'test', 'test')
    await mineBlocks(2)
    await store.pauses.resume('payouts:eth')
    await clearHolds()
    return exchange
  }
  await runWatchers()
  return {
    database,
    another,
    close,
    store,
    fakes,
    signer,
    books,
    screening,
    settings,
    dependencies,
    services,
    runWatchers,
    takeJobKeys,
    runJob,
    runJobs,
    runWorkers,
    mineBlocks,
    fundWallets,
    setRefundToSender,
    clearHolds,
    queuePayout,
    ...createReaders({ database, store, fakes }),
    ...actions,
  }
}

/** All executions of an exchange, open or closed, in the order of their deposits. */
export async function listExecutions(sql: Sql, { id }: Pick<Exchange, 'id'>) {
  const rows = await sql.query<{ id: string }>('select deposit_id as id from executions where exchange_id = $1', [id])
  return readExecutions(
    sql,
    rows.map((row) => row.id),
    payeeMacs,
  )
}

type Infrastructure = Readonly<{
  database: Database
  store: Store
  fakes: Readonly<Record<'btc' | 'eth' | 'ltc', FakeChain>>
}>

export type ExchangeOptions = Partial<
  Pick<
    NewExchange,
    | 'partnerId'
    | 'flow'
    | 'fromUnits'
    | 'estimate'
    | 'toUnits'
    | 'partnerFeeBps'
    | 'quotedFees'
    | 'recipient'
    | 'refund'
    | 'fixedLockMs'
    | 'fixedInclusionMs'
    | 'fixedReservePercent'
    | 'fixedPartnerPercent'
    | 'maxUnits'
    | 'rate'
    | 'idempotency'
  >
> & { from?: typeof btc; via?: typeof btc; to?: typeof btc; flow?: Flow; plan?: Omit<PrivatePlan, 'quoted'> }
/** Above the key indexes of the database, which next legs use. */
let nextKeyIndex = 1_000_000

/** 4 % less than the market gives: 24 ether for one bitcoin. Near enough for the price guard. */
function estimate(from: Currency, to: Currency, fromUnits: bigint, percent = 96n): bigint {
  const dollars: Readonly<Record<string, bigint>> = { btc: 100_000n, eth: 4_000n, usdt: 1n, ltc: 100n }
  const priceOf = ({ definition }: Currency) => dollars[definition.priceKey] ?? 1n
  const fromScale = 10n ** BigInt(from.asset.decimals)
  const toScale = 10n ** BigInt(to.asset.decimals)
  const units = (fromUnits * priceOf(from) * toScale * percent) / (priceOf(to) * fromScale * 100n)
  return units > 0n ? units : 1n
}

function quoteLegs(from: Currency, via: Currency, to: Currency, fromUnits: bigint): QuotedLegs {
  const viaUnits = estimate(from, via, fromUnits, 100n)
  return { viaUnits: viaUnits.toString(), toUnits: estimate(via, to, viaUnits, 100n).toString() }
}

/** The row that `create-exchange` makes; bitcoin to ether by default. */
export function makeNewExchange({ from = btc, via, to = eth, plan, ...rest }: ExchangeOptions = {}): NewExchange {
  const index = nextKeyIndex++
  return {
    id: randomUUID(),
    partnerId,
    type: via ? 'private' : 'standard',
    flow: 'standard',
    legs: via
      ? [
          { from: from.asset, to: via.asset },
          { from: via.asset, to: to.asset },
        ]
      : [{ from: from.asset, to: to.asset }],
    fromUnits: COIN,
    toUnits: estimate(from, to, rest.fromUnits ?? COIN),
    estimate: null,
    deposit: { address: `${from.asset.network}-deposit-${index}`, memo: null },
    keyIndex: index,
    recipient: { address: `customer-${index}`, memo: null },
    refund: { address: `refund-${index}`, memo: null },
    externalId: null,
    partnerFeeBps: 10,
    quotedFees: null,
    rate: null,
    idempotency: null,
    expiryMs: 86_400_000,
    fixedLockMs: rest.flow === 'fixed-rate' ? 1_200_000 : null,
    fixedInclusionMs: rest.flow === 'fixed-rate' ? 1_800_000 : null,
    fixedReservePercent: 300,
    fixedPartnerPercent: 100,
    // Above it a deposit does not wait for the reserve.
    maxUnits: 0n,
    ...rest,
    ...(via && plan ? { plan: { ...plan, quoted: quoteLegs(from, via, to, rest.fromUnits ?? COIN) } } : {}),
  }
}

/** The exchange of a create that succeeded; throws for every other outcome. */
export function requireCreated(outcome: CreateOutcome | undefined): Exchange {
  if (outcome?.kind !== 'created' && outcome?.kind !== 'repeated')
    throw new Error(`the create returned ${outcome?.kind}`)
  return outcome.exchange
}

function createActions({ store, fakes }: Pick<Infrastructure, 'store' | 'fakes'>) {
  return {
    createExchange: async (options: ExchangeOptions = {}): Promise<Exchange> =>
      requireCreated((await store.exchanges.create([makeNewExchange(options)]))[0]),
    /** On bitcoin or ethereum only. Returns the hash. */
    payDeposit: (exchange: Exchange, units: bigint, sender: string | null = null) => {
      const network = exchange.legs[0]?.from.network === 'btc' ? 'btc' : 'eth'
      return fakes[network].pay(exchange.deposit.address, units, {
        sender,
        contract: exchange.legs[0]?.from.contract ?? null,
      })
    },
    /** Inserts a payout of the hot wallet that belongs to no exchange. Returns its id. */
    insertPayout: async (
      network: 'btc' | 'eth',
      units: bigint,
      address: string,
      purpose: PayoutPurpose,
      assetId: AssetId = `${network}@${network}`,
    ) => {
      const id = randomUUID()
      // A withdrawal pays a debt.
      const isOwed = purpose === 'withdrawal'
      if (isOwed)
        await store.transaction((tx) =>
          tx.ledger.post(
            journalEntry(`owed:${id}`, 'owed', null, [
              { debit: 'equity:capital', credit: `liability:withdrawal:${id}`, assetId, units },
            ]),
          ),
        )
      await store.payouts.insert({
        id,
        ...(isOwed ? { owedFrom: 'liability:unclaimed' } : {}),
        exchangeId: null,
        executionId: null,
        depositId: null,
        leg: null,
        purpose,
        network,
        assetId,
        from: 'hot',
        address,
        memo: null,
        units,
      })
      return id
    },
    decide: async (exchange: Exchange, decision: Decision) => {
      const execution = (await store.steps.load(exchange.id))?.executions.find(({ status }) => status === 'verifying')
      if (!execution) throw new Error(`exchange ${exchange.id} has no held execution`)
      await store.steps.saveExecution(
        exchange.id,
        { id: execution.id, status: execution.status, reason: execution.reason, decision },
        `operator: ${decision}`,
      )
    },
  }
}

function createReaders({ database, store, fakes }: Infrastructure) {
  const readExecution = async (exchange: Exchange, n = 0) => {
    const execution = (await listExecutions(database, exchange))[n]
    if (!execution) throw new Error(`exchange ${exchange.id} has no execution ${n}`)
    return execution
  }
  return {
    readExecution,
    listExecutions: (exchange: Exchange) => listExecutions(database, exchange),
    readStatus: async (exchange: Exchange) => (await store.steps.load(exchange.id))?.exchange.status,
    listEvents: async (exchange: Exchange) =>
      (
        await database.query<{ event: string }>('select event from events where exchange_id = $1 order by id', [
          exchange.id,
        ])
      ).map(({ event }) => event),
    /** The kinds of the alarms, which are the first parts of their subjects. */
    listAlarmKinds: async () => (await store.alarms.list(100)).map(({ subject }) => subject.replace(/:.*/, '')).sort(),
    listPayouts: (exchange: Exchange) =>
      database.query<{
        id: string
        purpose: Payout['purpose']
        state: string
        units: string
        attention: string | null
        address: string
      }>(
        'select id, purpose, state, units, attention, address from payouts where exchange_id = $1 order by created_at',
        [exchange.id],
      ),
    /** Entries and balances agree, a closed exchange owes nothing, and `promised` is the sum of the open payouts. */
    expectBalanced: async () => {
      expect(await findLedgerFaults(database)).toEqual([])
      const owedAfterClose = await database.query(
        `select b.account, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id where b.units <> 0
           and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded', 'pending'))`,
      )
      expect(owedAfterClose).toEqual([])
      const miscounted = await database.query(
        `select b.account, b.promised from balances b where b.promised <> coalesce((select sum(p.units) from payouts p
           where b.account = 'liability:exchange:' || p.exchange_id and b.asset_id = p.asset_id and p.execution_id is not null
             and not p.lost and p.state in ('reserved', 'signed')), 0)`,
      )
      expect(miscounted).toEqual([])
    },
    readLiabilities: async (exchange: Exchange) =>
      Object.fromEntries(await store.ledger.balances(`liability:exchange:${exchange.id}`)),
    countEtherPayments: (exchange: Exchange) => fakes.eth.listPayments(exchange.recipient?.address ?? '').length,
    readWalletUnits: (assetId: AssetId) => store.ledger.balance('asset:wallet', assetId),
  }
}
