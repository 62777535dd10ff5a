import type { Exchange, Flow } from '../../server/src/exchange/domain/exchange.ts'
import { COIN, ETHER } from '../../server/test/exchange/money-path.ts'
import { type Direction as AnyDirection, type Simulation, TRANSFER_GAS } from './simulation.ts'

/** One day of a customer who knows the true price of every moment and every rule of the program, and keeps no word. */
export type Strategy = (simulation: Simulation) => Promise<void>

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEP = 5 * SECOND

type Direction = Exclude<AnyDirection, 'usdt-btc'>
const directions: readonly Direction[] = ['btc-eth', 'eth-btc']
/** Enough in both directions to reach the maximum of a quote. */
const PROBE: Readonly<Record<Direction, bigint>> = { 'btc-eth': COIN / 100n, 'eth-btc': ETHER }
/** Below the largest single payout, which a person would look at. */
const MOST: Readonly<Record<Direction, bigint>> = { 'btc-eth': 2n * COIN, 'eth-btc': 50n * ETHER }
/** About 30 000 dollars. */
const HONEST: Readonly<Record<Direction, bigint>> = { 'btc-eth': (3n * COIN) / 10n, 'eth-btc': (15n * ETHER) / 2n }
/** 30 000 dollars of USDT. */
const STABLECOINS = 30_000_000_000n
/** Customers wait for more than this share of the amount, which is worth a transaction. */
const WORTHWHILE = 0.001
/** Who may wait for a day waits for more. */
const PATIENT = 0.01
/** Of one direction in one lock. */
const CREATES_MAX = 10
/** The default lock of a fixed rate. */
const LOCK = 20 * MINUTE

type Offer = Readonly<{ direction: Direction; fromUnits: bigint; toUnits: bigint; rateId: string; issuedAt: number }>

/** A quote of the largest amount that the program offers now, or null. */
function quoteMost({ quote, now }: Simulation, direction: Direction, flow: Flow = 'fixed-rate'): Offer | null {
  const max = quote(direction, flow, PROBE[direction])?.quote.maxUnits ?? 0n
  const answer = quote(direction, flow, max < MOST[direction] ? max : MOST[direction])
  if (!answer || answer.rateId === null) return null
  const { quote: terms, rateId } = answer
  return { direction, fromUnits: terms.fromUnits, toUnits: terms.toUnits, rateId, issuedAt: now() }
}

/** What the customer gains if these terms are executed at the true price of now, as a share of the amount. */
function gainOf({ usdOf }: Simulation, { direction, fromUnits, toUnits }: Omit<Offer, 'rateId' | 'issuedAt'>): number {
  const [from, to] = direction === 'btc-eth' ? (['btc', 'eth'] as const) : (['eth', 'btc'] as const)
  return usdOf(to, toUnits) / usdOf(from, fromUnits) - 1
}

const offerOf = (exchange: Exchange, direction: Direction) => ({
  direction,
  fromUnits: exchange.fromUnits,
  toUnits: exchange.toUnits,
})

/** Not an adversary: pays what is ordered, at once, every two hours, at fixed and floating rates in both directions. */
export const payHonestly: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, quote, runDue } = simulation
  let n = 0
  for (let ms = HOUR; ms < DAY; ms += 2 * HOUR) {
    moveTo(ms)
    await runDue()
    const direction = n % 2 === 0 ? 'btc-eth' : 'eth-btc'
    const flow = n++ % 4 < 2 ? 'fixed-rate' : 'standard'
    const answer = quote(direction, flow, HONEST[direction])
    const exchange = await create(direction, flow, HONEST[direction], answer?.rateId ?? null)
    if (!exchange) throw new Error('an honest customer was refused')
    program.payDeposit(exchange, exchange.fromUnits)
    await settle()
  }
}

/** Collects quotes of both directions all the time, and creates with an old one as soon as the market has left it. */
export const keepOldQuotes: Strategy = async (simulation) => {
  const { moveTo, create, program, settle } = simulation
  let offers: Offer[] = []
  for (let ms = STEP; ms < DAY; ms += STEP) {
    moveTo(ms)
    offers = offers.filter(({ issuedAt }) => ms - issuedAt < MINUTE)
    const best = offers.toSorted((a, b) => gainOf(simulation, b) - gainOf(simulation, a))[0]
    if (best && gainOf(simulation, best) > WORTHWHILE) {
      const exchange = await create(best.direction, 'fixed-rate', best.fromUnits, best.rateId)
      if (exchange) {
        program.payDeposit(exchange, best.fromUnits)
        await settle()
      }
      offers = []
    }
    for (const direction of directions) {
      const offer = quoteMost(simulation, direction)
      if (offer) offers.push(offer)
    }
  }
}

/** Orders all that is offered at a fixed rate every 21 minutes, and pays at the last moment only where the market has moved for it. */
export const payOnlyWinners: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, runDue } = simulation
  for (let ms = STEP; ms + LOCK < DAY; ms += LOCK + MINUTE) {
    moveTo(ms)
    await runDue()
    const open: { exchange: Exchange; direction: Direction }[] = []
    for (const direction of directions)
      for (let n = 0; n < CREATES_MAX; n++) {
        const offer = quoteMost(simulation, direction)
        const exchange = offer && (await create(direction, 'fixed-rate', offer.fromUnits, offer.rateId))
        if (!exchange) break
        open.push({ exchange, direction })
      }
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
  const { moveTo, create, cancel, program, settle, runDue } = simulation
  for (let ms = STEP; ms + LOCK < DAY; ms += LOCK / 2) {
    moveTo(ms)
    await runDue()
    const open: { exchange: Exchange; direction: Direction }[] = []
    for (const direction of directions)
      for (let n = 0; n < CREATES_MAX; n++) {
        const offer = quoteMost(simulation, direction)
        const exchange = offer && (await create(direction, 'fixed-rate', offer.fromUnits, offer.rateId))
        if (!exchange) break
        open.push({ exchange, direction })
      }
    moveTo(ms + LOCK / 2 - STEP)
    const wins = ({ exchange, direction }: (typeof open)[number]) =>
      gainOf(simulation, offerOf(exchange, direction)) > WORTHWHILE
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
    const { moveTo, create, runDue } = simulation
    for (let start = STEP; start < DAY; ) {
      moveTo(start)
      await runDue()
      const offer = quoteMost(simulation, 'btc-eth')
      const exchange = offer && (await create('btc-eth', 'fixed-rate', offer.fromUnits, offer.rateId))
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

/** Knows an hour in which the operator's price sources lag, and trades against the price of before. */
export const useLaggingPrices: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, setSourceFault } = simulation
  setSourceFault({ lagMs: 25 * SECOND })
  for (let ms = MINUTE; ms < DAY; ms += STEP) {
    moveTo(ms)
    for (const direction of directions) {
      const offer = quoteMost(simulation, direction)
      if (!offer || gainOf(simulation, offer) <= WORTHWHILE) continue
      const exchange = await create(direction, 'fixed-rate', offer.fromUnits, offer.rateId)
      if (!exchange) continue
      program.payDeposit(exchange, offer.fromUnits)
      await settle()
    }
  }
}

/** Orders at a floating rate, and bends the operator's price by 15 % in the minute in which the deposit is converted. */
export const bendThePrice: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, setSourceFault } = simulation
  for (let ms = HOUR; ms < DAY; ms += 4 * HOUR) {
    moveTo(ms)
    const exchange = await create('btc-eth', 'standard', HONEST['btc-eth'], null)
    if (!exchange) continue
    program.payDeposit(exchange, exchange.fromUnits)
    setSourceFault({ factor: 1.15 })
    await settle()
    moveTo(ms + MINUTE)
    setSourceFault({})
    await settle()
  }
}

/** Sells a stablecoin at a floating rate in the minutes in which the operator's source of its price is 5 % too high. */
export const sellDearStablecoins: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, setSourceFault } = simulation
  for (let ms = HOUR; ms < DAY; ms += 4 * HOUR) {
    moveTo(ms)
    const ordered = await create('usdt-btc', 'standard', STABLECOINS, null)
    if (ordered) program.payDeposit(ordered, STABLECOINS)
    setSourceFault({ usdtUsd: 1.05 })
    const another = await create('usdt-btc', 'standard', STABLECOINS, null)
    if (another) program.payDeposit(another, STABLECOINS)
    await settle()
    moveTo(ms + MINUTE)
    setSourceFault({})
    await settle()
  }
}

/**
 * Shows a payment at the end of the lock, and has it mined at the last moment at which the fixed rate is kept if it wins;
 * otherwise replaces it by a payment to itself. Nodes relay such a replacement whether the payment signals it or not.
 */
export const replaceLosers: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, showPool, runDue, mineBlocks, inclusionMs } = simulation
  const decided = LOCK + inclusionMs - 2 * MINUTE
  for (let start = STEP; start + decided < DAY; start += decided + 5 * MINUTE) {
    moveTo(start)
    await runDue()
    const offer = quoteMost(simulation, 'btc-eth')
    const exchange = offer && (await create('btc-eth', 'fixed-rate', offer.fromUnits, offer.rateId))
    if (!exchange) continue
    moveTo(start + LOCK - MINUTE)
    const payment = program.payDeposit(exchange, exchange.fromUnits)
    await showPool()
    moveTo(start + decided)
    if (gainOf(simulation, offerOf(exchange, 'btc-eth')) > WORTHWHILE) await settle()
    else {
      program.fakes.btc.addConflict(`foreign:${payment}`)
      await mineBlocks(1)
    }
  }
}

/** Every hour a bitcoin for ether at the floating rate, until the stock of ether is used up; never the other direction. */
export const tradeOneDirection: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, runDue } = simulation
  for (let ms = HOUR; ms < DAY; ms += HOUR) {
    moveTo(ms)
    await runDue()
    const exchange = await create('btc-eth', 'standard', COIN, null)
    if (!exchange) break
    program.payDeposit(exchange, exchange.fromUnits)
    await settle()
  }
}

/** Below every minimum, and enough for its refund: some three dollars of bitcoin. */
const TEST_UNITS = 3_000n
/** Below the fee of its own refund: the smallest output that nodes relay. */
const DUST_UNITS = 546n
const DUST_PAYMENTS = 6

/** Sends amounts below every minimum to many addresses, so that each needs a refund, and dust that covers none. */
export const sendDust: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, quote } = simulation
  for (let ms = HOUR; ms < DAY; ms += 6 * HOUR) {
    moveTo(ms)
    const minUnits = quote('btc-eth', 'standard', PROBE['btc-eth'])?.quote.minUnits ?? 0n
    for (let n = 0; n < DUST_PAYMENTS; n++) {
      const exchange = await create('btc-eth', 'standard', minUnits, null)
      if (exchange) program.payDeposit(exchange, n % 3 === 0 ? DUST_UNITS : TEST_UNITS)
    }
    await settle()
  }
  await settle()
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

/** Just below the lowest tier of confirmations. */
const SMALL_USD = 990
/** What may be in flight at the depth of one small deposit, and what comes one block later. */
const SMALL_BEFORE = 10
const SMALL_AFTER = 30

/** Sends many small deposits in two blocks, and replaces these blocks as soon as what is paid at the lowest depth was paid. */
export const splitDoubleSpend: Strategy = async (simulation) => {
  const { moveTo, create, program, mineBlocks, priceNow } = simulation
  moveTo(HOUR)
  const units = BigInt(Math.floor((SMALL_USD / priceNow()) * Number(COIN)))
  const payments: string[] = []
  for (const count of [SMALL_BEFORE, SMALL_AFTER]) {
    for (let n = 0; n < count; n++) {
      const exchange = await create('btc-eth', 'standard', units, null)
      if (exchange) payments.push(program.payDeposit(exchange, units))
    }
    await mineBlocks(1)
  }
  await mineBlocks(1)
  program.fakes.btc.reorg(3, (hash) => payments.includes(hash))
  await mineBlocks(1)
  await mineBlocks(10)
}

/** Of a payment to a contract that burns what it is given. */
const BURNT_GAS = 500_000n

/** Sends the smallest amounts: bitcoin for a recipient that burns gas, and ether, whose sweep costs a transaction. */
export const burnGas: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, quote } = simulation
  const { chain } = program.fakes.eth
  chain.sender.gasLimit = async ({ address }) => (address === 'adversary-eth' ? BURNT_GAS : 21_000n)
  for (let ms = HOUR; ms < DAY; ms += 6 * HOUR) {
    moveTo(ms)
    for (const direction of directions) {
      const minUnits = quote(direction, 'standard', PROBE[direction])?.quote.minUnits ?? 0n
      const exchange = await create(direction, 'standard', minUnits, null)
      if (exchange) program.payDeposit(exchange, minUnits)
    }
    await settle()
    await program.services.sweep(chain)
  }
  await settle()
}

/** US dollars in USDT: a bit more than three times what a sweep costs, below which a deposit is not swept. */
const SMALL_TOKENS = 10_500_000n
const SMALL_TOKEN_PAYMENTS = 6

/** Sends the smallest amounts of a token that are worth a sweep, each to an address of its own, which needs gas first. */
export const sendSmallTokens: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, quote } = simulation
  const { chain } = program.fakes.eth
  const gasOf = (contract: string | null) => (contract === null ? TRANSFER_GAS.native : TRANSFER_GAS.token)
  chain.sender.gasLimit = async ({ asset }) => gasOf(asset.contract)
  chain.sender.payoutFee = ({ contract }, { rate }) => gasOf(contract) * rate
  chain.sender.depositFee = ({ contract }, { rate }) =>
    (gasOf(contract) + (contract === null ? 0n : gasOf(null))) * rate
  for (let ms = HOUR; ms < DAY; ms += 6 * HOUR) {
    moveTo(ms)
    const minUnits = quote('usdt-btc', 'standard', SMALL_TOKENS)?.quote.minUnits ?? 0n
    const units = minUnits > SMALL_TOKENS ? minUnits : SMALL_TOKENS
    for (let n = 0; n < SMALL_TOKEN_PAYMENTS; n++) {
      const exchange = await create('usdt-btc', 'standard', units, null)
      if (exchange) program.payDeposit(exchange, units)
    }
    // Once the deposits are final, their addresses get gas, and are swept then.
    for (let n = 0; n < 3; n++) {
      await settle()
      await program.services.sweep(chain)
    }
    await settle()
  }
}
