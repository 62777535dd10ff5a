import type { Partner } from '../../server/src/core/domain/partner.ts'
import type { Exchange } from '../../server/src/exchange/domain/exchange.ts'
import { COIN, ETHER } from '../../server/test/exchange/money-path.ts'
import type { Simulation } from './simulation.ts'
import {
  DAY,
  type Direction,
  directions,
  HOUR,
  MINUTE,
  PROBE,
  SECOND,
  STEP,
  type Strategy,
  TEST_UNITS,
} from './strategy.ts'

/** Below the largest single payout, which a person would look at. */
const MOST: Readonly<Record<Direction, bigint>> = { 'btc-eth': 2n * COIN, 'eth-btc': 50n * ETHER }
/** Customers wait for more than this share of the amount, which is worth a transaction. */
const WORTHWHILE = 0.001
/** Who may wait for a day waits for more. */
const PATIENT = 0.01
/** Of one direction in one lock. */
const CREATES_MAX = 10
/** How far wrong price sources are behind the market. */
const LAG = 25 * SECOND
/** The default lock of a fixed rate. */
const LOCK = 20 * MINUTE

type Offer = Readonly<{
  partner: Partner
  direction: Direction
  fromUnits: bigint
  toUnits: bigint
  rateId: string
  issuedAt: number
}>

/** A fixed rate for the largest amount that the program offers a partner now, or null. */
function quoteMost({ quote, now }: Simulation, direction: Direction, partner: Partner): Offer | null {
  const max = quote(direction, 'fixed-rate', PROBE[direction], partner)?.quote.maxUnits ?? 0n
  const answer = quote(direction, 'fixed-rate', max < MOST[direction] ? max : MOST[direction], partner)
  if (!answer || answer.rateId === null) return null
  const { quote: terms, rateId } = answer
  return { partner, direction, fromUnits: terms.fromUnits, toUnits: terms.toUnits, rateId, issuedAt: now() }
}

const createAt = ({ create }: Simulation, { direction, fromUnits, rateId, partner }: Offer): Promise<Exchange | null> =>
  create(direction, 'fixed-rate', fromUnits, rateId, partner)

type Order = Readonly<{ exchange: Exchange; direction: Direction }>

/** Orders at a fixed rate all that is offered to its partners in these directions. */
async function createAll(simulation: Simulation, ordered = directions): Promise<readonly Order[]> {
  const orders: Order[] = []
  for (const direction of ordered)
    for (const partner of simulation.partners)
      for (let n = 0; n < CREATES_MAX; n++) {
        const offer = quoteMost(simulation, direction, partner)
        const exchange = offer && (await createAt(simulation, offer))
        if (!exchange) break
        orders.push({ exchange, direction })
      }
  return orders
}

type Terms = Pick<Offer, 'direction' | 'fromUnits' | 'toUnits'>

/** What the customer gains if these terms are executed at the true price of now, as a share of the amount. */
function gainOf({ usdOf }: Simulation, { direction, fromUnits, toUnits }: Terms): number {
  const [from, to] = direction === 'btc-eth' ? (['btc', 'eth'] as const) : (['eth', 'btc'] as const)
  return usdOf(to, toUnits) / usdOf(from, fromUnits) - 1
}

const offerOf = (exchange: Exchange, direction: Direction) => ({
  direction,
  fromUnits: exchange.fromUnits,
  toUnits: exchange.toUnits,
})

/** What a fixed rate of now costs, as a share: a smaller move of the market gives no gain. */
function costOf(simulation: Simulation): number {
  const [partner] = simulation.partners
  const offer = partner && quoteMost(simulation, 'btc-eth', partner)
  return offer ? -gainOf(simulation, offer) : 0
}

/** Whether one price is further away from the other than `share`. */
const isApart = (one: number, other: number, share: number): boolean => Math.abs(Math.log(one / other)) > share

/**
 * Collects quotes of both directions before the market leaves them, and creates with an old one as soon as it has. Knowing every
 * price, it asks for quotes only if the market moves within a minute by more than a fixed rate costs: no other quote could win.
 */
export const keepOldQuotes: Strategy = async (simulation) => {
  const { moveTo, program, settle, partners, priceAt, seenPriceAt } = simulation
  moveTo(STEP)
  const cost = costOf(simulation)
  const isWorthQuoting = (ms: number) => {
    for (let later = ms; later <= ms + MINUTE; later += STEP)
      if (isApart(priceAt(later), seenPriceAt(ms), cost)) return true
    return false
  }
  let offers: Offer[] = []
  for (let ms = STEP; ms < DAY; ms += STEP) {
    offers = offers.filter(({ issuedAt }) => ms - issuedAt < MINUTE)
    const isQuoting = isWorthQuoting(ms)
    if (offers.length === 0 && !isQuoting) continue
    moveTo(ms)
    const winners = findWinners(simulation, offers)
    const paid = await createEach(simulation, winners)
    for (const exchange of paid) program.payDeposit(exchange, exchange.fromUnits)
    if (paid.length > 0) await settle()
    if (winners.length > 0) offers = []
    if (!isQuoting) continue
    for (const partner of partners)
      for (const direction of directions) {
        const offer = quoteMost(simulation, direction, partner)
        if (offer) offers.push(offer)
      }
  }
}

/** The offers that gain enough now, the best first. */
function findWinners(simulation: Simulation, offers: readonly Offer[]): readonly Offer[] {
  const gains = new Map(offers.map((offer) => [offer, gainOf(simulation, offer)]))
  const gain = (offer: Offer) => gains.get(offer) ?? 0
  return offers.filter((offer) => gain(offer) > WORTHWHILE).toSorted((a, b) => gain(b) - gain(a))
}

/** Creates with each of these offers, for each partner until one is refused. */
async function createEach(simulation: Simulation, offers: readonly Offer[]): Promise<readonly Exchange[]> {
  const refused = new Set<Partner>()
  const created: Exchange[] = []
  for (const offer of offers) {
    if (refused.has(offer.partner)) continue
    const exchange = await createAt(simulation, offer)
    if (exchange) created.push(exchange)
    else refused.add(offer.partner)
  }
  return created
}

/** Orders all that is offered at a fixed rate every 21 minutes, and pays at the last moment only where the market has moved for it. */
export const payOnlyWinners: Strategy = async (simulation) => {
  const { moveTo, program, settle, runDue } = simulation
  for (let ms = STEP; ms + LOCK < DAY; ms += LOCK + MINUTE) {
    moveTo(ms)
    await runDue()
    const open = await createAll(simulation)
    moveTo(ms + LOCK - MINUTE)
    const winners = open.filter((one) => gainOf(simulation, offerOf(one.exchange, one.direction)) > WORTHWHILE)
    for (const { exchange } of winners) program.payDeposit(exchange, exchange.fromUnits)
    if (winners.length > 0) await settle()
  }
}

/**
 * Orders all that is offered at a fixed rate. Ten minutes later it pays where the market has moved for it, and cancels the rest,
 * to order again at the new price.
 */
export const cancelLosers: Strategy = async (simulation) => {
  const { moveTo, cancel, program, settle, runDue } = simulation
  for (let ms = STEP; ms + LOCK < DAY; ms += LOCK / 2) {
    moveTo(ms)
    await runDue()
    const open = await createAll(simulation)
    moveTo(ms + LOCK / 2 - STEP)
    const wins = ({ exchange, direction }: Order) => gainOf(simulation, offerOf(exchange, direction)) > WORTHWHILE
    const winners = open.filter(wins)
    for (const { exchange } of winners) program.payDeposit(exchange, exchange.fromUnits)
    if (winners.length > 0) await settle()
    for (const { exchange } of open.filter((one) => !wins(one))) await cancel(exchange)
  }
}

/**
 * Orders at a fixed rate, does `within` the lock, waits until the market has moved by enough, and does `onceMoved` then; never
 * otherwise.
 */
function waitForMarket(
  within: (simulation: Simulation, exchange: Exchange) => Promise<void>,
  onceMoved: (simulation: Simulation, exchange: Exchange) => Promise<void>,
): Strategy {
  return async (simulation) => {
    const { moveTo, runDue, partners } = simulation
    for (let start = STEP; start < DAY; ) {
      moveTo(start)
      await runDue()
      const offer = partners[0] ? quoteMost(simulation, 'btc-eth', partners[0]) : null
      const exchange = offer && (await createAt(simulation, offer))
      if (!exchange) {
        start += LOCK
        continue
      }
      moveTo(start + MINUTE)
      await within(simulation, exchange)
      let ms = start + LOCK
      while (ms < DAY && gainOf(simulation, offerOf(exchange, 'btc-eth')) < PATIENT) {
        ms += 10 * MINUTE
        moveTo(ms)
      }
      if (ms < DAY) await onceMoved(simulation, exchange)
      start = ms + HOUR
    }
  }
}

/** Shows an unconfirmed payment within the lock, and lets it be mined hours later. */
export const payUnconfirmed: Strategy = waitForMarket(
  async ({ program, showPool }, exchange) => {
    program.payDeposit(exchange, exchange.fromUnits)
    await showPool()
  },
  ({ settle }) => settle(),
)

/** Knows that the operator's price sources lag, and trades against the price of before where the market has left it. */
export const useLaggingPrices: Strategy = async (simulation) => {
  const { moveTo, program, settle, setSourceFault, partners, priceAt } = simulation
  moveTo(STEP)
  const cost = costOf(simulation)
  setSourceFault({ lagMs: LAG })
  for (let ms = MINUTE; ms < DAY; ms += STEP) {
    if (!isApart(priceAt(ms), priceAt(ms - LAG), cost)) continue
    moveTo(ms)
    for (const partner of partners)
      for (const direction of directions) {
        const offer = quoteMost(simulation, direction, partner)
        if (!offer || gainOf(simulation, offer) <= WORTHWHILE) continue
        const exchange = await createAt(simulation, offer)
        if (!exchange) continue
        program.payDeposit(exchange, offer.fromUnits)
        await settle()
      }
  }
}

/**
 * Shows a payment at the end of the lock, and has it mined at the last moment at which the fixed rate is kept if it wins;
 * otherwise replaces it by a payment to itself. Nodes relay such a replacement whether the payment signals it or not.
 */
export const replaceLosers: Strategy = async (simulation) => {
  const { moveTo, program, settle, showPool, runDue, mineBlocks, inclusionMs } = simulation
  const decided = LOCK + inclusionMs - 2 * MINUTE
  for (let start = STEP; start + decided < DAY; start += decided + 5 * MINUTE) {
    moveTo(start)
    await runDue()
    const orders = await createAll(simulation, ['btc-eth'])
    if (orders.length === 0) continue
    moveTo(start + LOCK - MINUTE)
    const payments = orders.map(({ exchange }) => ({
      exchange,
      hash: program.payDeposit(exchange, exchange.fromUnits),
    }))
    await showPool()
    moveTo(start + decided)
    const lost = payments.filter(({ exchange }) => gainOf(simulation, offerOf(exchange, 'btc-eth')) <= WORTHWHILE)
    for (const { hash } of lost) program.fakes.btc.addConflict(`foreign:${hash}`)
    if (lost.length < payments.length) await settle()
    else await mineBlocks(1)
  }
}

/** Sends less than the minimum within the lock, and the whole amount hours later. */
export const sendTestPayment: Strategy = waitForMarket(
  async ({ program, settle }, exchange) => {
    program.payDeposit(exchange, TEST_UNITS)
    await settle()
  },
  async ({ program, settle }, exchange) => {
    program.payDeposit(exchange, exchange.fromUnits)
    await settle()
  },
)
