import { formatUnits } from '../../server/src/core/domain/amount.ts'
import type { Book, Reserves, SpreadPolicy } from '../../server/src/core/domain/book.ts'
import type { Currency } from '../../server/src/core/domain/currency.ts'
import { AppError } from '../../server/src/core/domain/errors.ts'
import type { Partner } from '../../server/src/core/domain/partner.ts'
import type { Exchange, Flow } from '../../server/src/exchange/domain/exchange.ts'
import { type BookParts, btc, eth, makeBook, usdt } from '../../server/src/exchange/domain/pricing.fixture.ts'
import { createCreateExchange } from '../../server/src/exchange/orders/create-exchange.ts'
import { createQuoteRate } from '../../server/src/exchange/quotes/quote-rate.ts'
import { createRateIds } from '../../server/src/exchange/quotes/rate-id.ts'
import { guardDefaults, type ServiceSettings } from '../../server/src/exchange/settings.ts'
import { COIN, ETHER, market, partnerId, startMoneyPath } from '../../server/test/exchange/money-path.ts'
import type { PricePath } from './market.ts'
import type { SimulatedTemplate } from './simulated-clock.ts'
import { createSimulatedWorkers } from './simulated-workers.ts'

/** Confirmations of large deposits: four times two. */
const DEPOSIT_BLOCKS = 8
/** The payout's block, and its two confirmations. */
const PAYOUT_BLOCKS = 3
/** Those that hold the operator's capital, and their finality. */
const FUNDING_BLOCKS = 13
/** Of a payment in ether, in wei: 10 gwei, so that a plain one costs what a quote charges for it. */
const GAS_PRICE = 10n ** 10n
/** Gas of a plain transfer and of a token's, as quotes assume it. */
export const TRANSFER_GAS = { native: 21_000n, token: 65_000n }
/** Of a token deposit, in wei: its sweep, and the supply of the sweep's gas. */
const SWEEP_FEE = (TRANSFER_GAS.native + TRANSFER_GAS.token) * GAS_PRICE
const START = Date.UTC(2026, 10, 20)
/** The operator's prices are those of this long ago: the sources' own delay and one pause between two reads. */
const PRICE_LAG_MS = 2_000
/** What is wrong with the operator's price sources. */
export type SourceFault = Readonly<{ lagMs?: number; factor?: number; usdtUsd?: number }>
/** What the program does in a simulation. */
export type Rules = Readonly<{
  settings: Partial<ServiceSettings>
  /** Payments and refunds are free of the network fee. */
  isFreeOfNetworkFees?: boolean
  /** Quotes and minimums hold no costs of a deposit. */
  isFreeOfDepositCosts?: boolean
  /** A cancelled fixed rate gives its share back to its partner. */
  isCancelFree?: boolean
  /** Instead of the default spreads. */
  spreads?: SpreadPolicy
}>
/** One ether costs this throughout: only the price of bitcoin moves, and with it the rate. */
export const ETHER_USD = 4_000
/** Half of the difference between bid and ask, as a share. */
const HALF_SPREAD = 0.0002

/** The first is the partner of the money path. */
const makePartner = (n: number): Partner => ({
  id: n === 0 ? partnerId : `018f2b1c-0000-7000-8000-1${String(n).padStart(11, '0')}`,
  name: `partner ${n} of the adversary`,
  feeBps: 0,
  suspended: false,
  openExchangesMax: 10_000,
  rateLimitPerMinute: 100_000,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
})

export type Direction = 'btc-eth' | 'eth-btc' | 'usdt-btc'
type Ticker = 'btc' | 'eth' | 'usdt'
const sides: Readonly<Record<Direction, readonly [from: Currency, to: Currency]>> = {
  'btc-eth': [btc, eth],
  'eth-btc': [eth, btc],
  'usdt-btc': [usdt, btc],
}
/** `btc` of `btc@btc`. */
const tickerOf = (assetId: string) => assetId.split('@')[0] as Ticker
/** What one conversion brought the operator, in dollars of the true price at its moment. */
export type Conversion = Readonly<{ receivedUsd: number; paidUsd: number }>
export type Simulation = Awaited<ReturnType<typeof startSimulation>>

/** The program's quoting, create, settlement and payout code, on Postgres and chains in memory, with a clock and prices of its own. */
export async function startSimulation(template: SimulatedTemplate, path: PricePath, rules: Rules, partnerCount = 1) {
  const { settings, spreads } = rules
  const partners = Array.from({ length: partnerCount }, (_, n) => makePartner(n))
  const firstPartner = makePartner(0)
  const { isFreeOfNetworkFees = false, isFreeOfDepositCosts = false, isCancelFree = false } = rules
  const time = { ms: 0 }
  const clock = { now: () => START + time.ms, databaseNow: () => START + time.ms }
  const opened = await template.open(START)
  const program = await startMoneyPath({
    clock,
    settings: { ...settings, limits: LIMITS },
    open: async () => opened,
  })
  const { books, store, dependencies } = program
  const rateIds = createRateIds(Buffer.alloc(32, 7))
  const listed = [btc, eth, usdt]
  const find = (ticker: string, network: string) =>
    listed.find(({ asset }) => asset.ticker === ticker && asset.network === network) ?? null
  const catalogue = {
    find,
    findNetwork: (id: string) => listed.find(({ network }) => network.id === id)?.network ?? null,
  }
  const quoteRate = createQuoteRate({ catalogue, books, rateIds, clock, rateIdTtlMs: dependencies.settings.rateIdMs })
  let nextKeyIndex = 1
  const createExchange = createCreateExchange({
    ...dependencies,
    catalogue,
    rateIds,
    quoteRate,
    commit: async (row) => {
      const [outcome] = await store.exchanges.create([row])
      if (!outcome) throw new Error('the create has no outcome')
      return outcome
    },
    allocateDeposit: async (network) => {
      const keyIndex = nextKeyIndex++
      const chain = dependencies.chains.get(network)
      if (!chain) throw new Error(`no chain of ${network}`)
      return { destination: chain.addresses.deposit(keyIndex), keyIndex }
    },
    findByIdempotencyKey: store.exchanges.findRepeated,
    countOpen: async () => 0,
    expectations: { confirmationsOf: () => null, secondsOf: () => null },
  })

  const usdOf = (ticker: Ticker, units: bigint): number => {
    if (ticker === 'usdt') return Number(units) / MICRO
    return ticker === 'btc'
      ? (Number(units) / Number(COIN)) * path.at(time.ms)
      : (Number(units) / Number(ETHER)) * ETHER_USD
  }
  let reserves: Omit<Reserves, 'at'> = { available: new Map() }
  let fault: SourceFault = {}
  const refreshBook = () => {
    const { lagMs = PRICE_LAG_MS, factor = 1, usdtUsd = 1 } = fault
    const seen = path.at(Math.max(time.ms - lagMs, 0)) * factor
    const { fees } = makeBook({ ...market, ...(isFreeOfNetworkFees ? { fees: freeFees } : {}), at: clock.now() })
    const { prices } = makeBook({
      ...market,
      at: clock.now() - lagMs,
      prices: { ...market.prices, btc: around(seen), eth: around(ETHER_USD), usdt: around(usdtUsd) },
    })
    books.replace({
      prices,
      fees: isFreeOfDepositCosts ? fees : withDepositFees(fees),
      reserves: { at: clock.now(), ...reserves },
    })
  }
  let syncedMs = -1
  /** Before work on the database: its clock. */
  const syncDatabase = async () => {
    if (syncedMs === time.ms) return
    syncedMs = time.ms
    for (const { behaviour } of Object.values(program.fakes)) behaviour.blockTime = Math.floor(clock.now() / 1_000)
    await opened.setTime(clock.now())
  }
  /** After work on the database: what is left of the reserves. */
  const readReserves = async () => {
    reserves = { available: await store.inventory.available(), fixed: await store.inventory.fixedStock() }
    refreshBook()
  }
  const workers = createSimulatedWorkers(program)
  const membersOf = (direction: Direction) => {
    const [from, to] = sides[direction]
    return {
      fromCurrency: from.asset.ticker,
      fromNetwork: from.asset.network,
      toCurrency: to.asset.ticker,
      toNetwork: to.asset.network,
    }
  }
  const amountOf = (direction: Direction, units: bigint) => formatUnits(units, sides[direction][0].asset.decimals)
  const conversions: Conversion[] = []
  const valued = new Set<string>()
  /** Values every conversion that is new, at the true price of now. */
  const valueConversions = async () => {
    const rows = await program.database.query<{
      id: string
      give: string
      give_units: string
      take: string
      take_units: string
    }>(
      `select o.id, o.give_asset as give, o.give_units, o.take_asset as take, o.take_units from orders o where o.state = 'filled'`,
    )
    for (const { id, give, give_units, take, take_units } of rows) {
      if (valued.has(id)) continue
      valued.add(id)
      conversions.push({
        receivedUsd: usdOf(tickerOf(give), BigInt(give_units)),
        paidUsd: usdOf(tickerOf(take), BigInt(take_units)),
      })
    }
  }
  program.fakes.eth.behaviour.feeRate = GAS_PRICE
  const guards = settings.guards ?? guardDefaults
  const fixedRates = {
    priceAgeMs: guards.fixedPriceAgeMs,
    reservePercent: guards.fixedReservePercent,
    partnerPercent: guards.fixedPartnerPercent,
  }
  const { stableBandPercent } = guards
  books.replace({ fixedRates, stableBandPercent, ...(spreads === undefined ? {} : { spreads }) })
  await syncDatabase()
  program.fakes.btc.pay(program.fakes.btc.chain.addresses.hot(), 20n * COIN)
  program.fakes.eth.pay(program.fakes.eth.chain.addresses.hot(), 500n * ETHER)
  await workers.mine(FUNDING_BLOCKS)
  await readReserves()
  return {
    program,
    conversions,
    now: () => time.ms,
    /** The partners whose keys the customer can use. */
    partners,
    priceAt: path.at,
    /** What the program's prices are now, if nothing is wrong with their sources. */
    seenPriceAt: (ms: number) => path.at(Math.max(ms - PRICE_LAG_MS, 0)),
    usdOf,
    /** Moves the clock, and reads the prices of then. */
    moveTo(ms: number): void {
      time.ms = ms
      refreshBook()
    },
    /** From now on; `{}` ends it. */
    setSourceFault(next: SourceFault): void {
      fault = next
      refreshBook()
    },
    /** The answer of a rate request, or null if there is no rate now. */
    quote: (direction: Direction, flow: Flow, units: bigint, partner = firstPartner) =>
      unlessRefused(() => quoteRate(partner, { ...membersOf(direction), flow, amount: amountOf(direction, units) })),
    /** The exchange, or null if the program refuses the terms. */
    async create(
      direction: Direction,
      flow: Flow,
      units: bigint,
      rateId: string | null,
      partner = firstPartner,
    ): Promise<Exchange | null> {
      const [from, to] = sides[direction]
      await syncDatabase()
      try {
        const { exchange } = await createExchange(
          partner,
          {
            ...membersOf(direction),
            flow,
            fromAmount: amountOf(direction, units),
            address: `adversary-${to.asset.network}`,
            refundAddress: `adversary-${from.asset.network}`,
            ...(rateId === null ? {} : { rateId }),
          },
          null,
        )
        await readReserves()
        return exchange
      } catch (error) {
        if (error instanceof AppError && error.kind !== 'bug') return null
        throw error
      }
    },
    /** Cancels an exchange for which nothing was paid. */
    async cancel({ id }: Exchange): Promise<void> {
      await syncDatabase()
      await store.exchanges.cancel(id)
      if (isCancelFree) await program.database.query('delete from cancelled_promises')
      await readReserves()
    },
    /** What a server does without a customer: it ends promises and exchanges whose time is over. */
    async runDue(): Promise<void> {
      await syncDatabase()
      await workers.run()
      // The watchers note this by a real clock, which is too slow here.
      for (const network of ['btc', 'eth']) await store.chainLog.recordCaughtUp(network, 0)
      await store.inventory.releaseExpired(100)
      await readReserves()
    },
    /** Shows the unconfirmed payments to the program. */
    async showPool(): Promise<void> {
      await syncDatabase()
      await workers.run()
    },
    /** Mines what is paid, and runs the workers until it is settled. */
    async settle(): Promise<void> {
      await syncDatabase()
      for (const count of [DEPOSIT_BLOCKS, PAYOUT_BLOCKS]) await workers.mineWaiting(count)
      await valueConversions()
      await readReserves()
    },
    /** Mines some blocks, and runs the workers once. */
    async mineBlocks(count: number): Promise<void> {
      await syncDatabase()
      await workers.mine(count)
      await valueConversions()
    },
    /** What the operator kept of refunded deposits and of dust, in dollars of now. */
    async readRefundIncomeUsd(): Promise<number> {
      const rows = await program.database.query<{ asset_id: string; units: string }>(
        `select p.asset_id, sum(p.units)::text as units from postings p join journal j on j.id = p.journal_id
         where j.event in ('refund fee', 'booked as dust') group by p.asset_id`,
      )
      return rows.reduce((sum, { asset_id, units }) => sum + usdOf(tickerOf(asset_id), BigInt(units)), 0)
    },
    /** What the operator paid for transactions, and for deposits that left the chain, in dollars of now. */
    async readCostsUsd(): Promise<number> {
      const { ledger } = program.store
      const expenses = ['expense:network-fee', 'expense:stranded', 'expense:suspense'] as const
      const costs = await Promise.all(expenses.map((account) => ledger.balances(account)))
      return costs
        .flatMap((units) => [...units])
        .reduce((sum, [asset, units]) => sum + usdOf(tickerOf(asset), units), 0)
    },
    inclusionMs: settings.guards?.fixedInclusionMs ?? 0,
    close: program.close,
  }
}

/** The result, or null where the program refuses the request. A bug fails the simulation. */
function unlessRefused<T>(request: () => T): T | null {
  try {
    return request()
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'bug') return null
    throw error
  }
}

/** Those of production, but for the sums of an hour and a day, which would end a strategy early. */
const LIMITS = {
  perTransactionUsd: 250_000n * 10n ** 12n,
  hourUsd: 10n ** 21n,
  dayUsd: 10n ** 21n,
  partnerPercent: 100,
  networkPercent: 100,
  recipientPercent: 100,
}
/** The fees of the market, all zero. */
const freeFees: BookParts['fees'] = Object.fromEntries(
  Object.entries(market.fees).map(([network, { native, units }]) => [
    network,
    { native, units: Object.fromEntries(Object.keys(units).map((asset) => [asset, 0n])) },
  ]),
)
/** What a token deposit costs before it can pay out, as the workers read it from the network. */
function withDepositFees(fees: Book['fees']): Book['fees'] {
  const ofEther = fees.get('eth')
  if (ofEther === undefined) throw new Error('the market has the fees of eth')
  return new Map(fees).set('eth', { ...ofEther, depositFeeUnits: new Map([[usdt.asset.id, SWEEP_FEE]]) })
}
const MICRO = 1_000_000
const USD = 10n ** 12n
/** Bid and ask around a price in dollars. */
function around(usd: number) {
  const scaled = (value: number) => BigInt(Math.round(value * MICRO)) * (USD / BigInt(MICRO))
  return { bid: scaled(usd * (1 - HALF_SPREAD)), ask: scaled(usd * (1 + HALF_SPREAD)) }
}
