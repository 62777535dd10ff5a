import { smallest } from '../../server/src/lib/bigint.ts'
import { COIN, ETHER } from '../../server/test/exchange/money-path.ts'
import { TRANSFER_GAS } from './simulation.ts'
import { DAY, type Direction, directions, HOUR, MINUTE, PROBE, type Strategy, TEST_UNITS } from './strategy.ts'

/** About 30 000 dollars. */
const HONEST: Readonly<Record<Direction, bigint>> = { 'btc-eth': (3n * COIN) / 10n, 'eth-btc': (15n * ETHER) / 2n }
/** 30 000 dollars of USDT. */
const STABLECOINS = 30_000_000_000n

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

/** Just below the lowest tier of confirmations. */
const SMALL_USD = 990
/** What may be in flight at the depth of one small deposit, and what comes one block later. */
const SMALL_BEFORE = 10
const SMALL_AFTER = 30

/**
 * Sends many small deposits of each partner in two blocks, and replaces these blocks as soon as what is paid at the lowest depth was
 * paid.
 */
export const splitDoubleSpend: Strategy = async (simulation) => {
  const { moveTo, create, program, mineBlocks, partners, priceAt, now } = simulation
  moveTo(HOUR)
  const units = BigInt(Math.floor((SMALL_USD / priceAt(now())) * Number(COIN)))
  const payments: string[] = []
  for (const count of [SMALL_BEFORE, SMALL_AFTER]) {
    for (const partner of partners)
      for (let n = 0; n < count; n++) {
        const exchange = await create('btc-eth', 'standard', units, null, partner)
        if (exchange) payments.push(program.payDeposit(exchange, units))
      }
    await mineBlocks(1)
  }
  await mineBlocks(1)
  program.fakes.btc.reorg(3, (hash) => payments.includes(hash))
  await mineBlocks(1)
  await mineBlocks(10)
}

/** Of a payment to a contract that burns what it is given: the most that a payment is given on a network. */
const BURNT_GAS = 500_000n
/**
 * Twenty times what that costs at 10 gwei is 0.1 ether, some 400 dollars: `guards.payoutFeePercent` of this payout is a bit more than
 * the burnt gas. A larger amount burns no more, and pays more of the spread.
 */
const LARGE_UNITS: Readonly<Record<Direction, bigint>> = {
  'btc-eth': (45n * COIN) / 10_000n,
  'eth-btc': (105n * ETHER) / 1_000n,
}

/**
 * Sends bitcoin for a recipient that burns gas: the smallest amount, and a larger one, so that the burnt gas is a small share. It
 * cancels an order and pays it then, so that ether is refunded to an address that burns gas. The contracts are deployed after the
 * create, which finds no code. It sends the smallest amount of ether, too, whose sweep costs a transaction.
 */
export const burnGas: Strategy = async (simulation) => {
  const { moveTo, create, cancel, program, settle, quote } = simulation
  const { chain } = program.fakes.eth
  chain.sender.gasLimit = async ({ address }) => (address === 'adversary-eth' ? BURNT_GAS : 21_000n)
  const order = async (direction: Direction, units: bigint, isCancelled = false) => {
    const exchange = await create(direction, 'standard', units, null)
    if (!exchange) return
    if (isCancelled) await cancel(exchange)
    program.payDeposit(exchange, units)
  }
  for (let ms = HOUR; ms < DAY; ms += 6 * HOUR) {
    moveTo(ms)
    for (const direction of directions)
      await order(direction, quote(direction, 'standard', PROBE[direction])?.quote.minUnits ?? 0n)
    await order('btc-eth', LARGE_UNITS['btc-eth'])
    await order('eth-btc', LARGE_UNITS['eth-btc'], true)
    await settle()
    await program.services.sweep(chain)
  }
  await settle()
}

/** In four rounds a hundred a day. The loss is linear in them. */
const PAYMENTS_BELOW_LIMIT = 25

/**
 * Sends the smallest amounts of bitcoin for a recipient that burns one gas less than its payment may use, or what a payment is given
 * at the most. So each is paid, and costs more than was charged for it.
 */
export const burnGasBelowLimit: Strategy = async (simulation) => {
  const { moveTo, create, program, settle, quote } = simulation
  const limit = BigInt(program.settings.guards.payoutFeeMultiple) * TRANSFER_GAS.native
  const gas = smallest(limit - 1n, BURNT_GAS)
  program.fakes.eth.chain.sender.gasLimit = async ({ address }) =>
    address === 'adversary-eth' ? gas : TRANSFER_GAS.native
  for (let ms = HOUR; ms < DAY; ms += 6 * HOUR) {
    moveTo(ms)
    const minUnits = quote('btc-eth', 'standard', PROBE['btc-eth'])?.quote.minUnits ?? 0n
    for (let n = 0; n < PAYMENTS_BELOW_LIMIT; n++) {
      const exchange = await create('btc-eth', 'standard', minUnits, null)
      if (exchange) program.payDeposit(exchange, minUnits)
    }
    await settle()
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
