import { btc } from '../../server/networks/btc.ts'
import { eth } from '../../server/networks/eth.ts'
import { ltc } from '../../server/networks/ltc.ts'
import { xmr } from '../../server/networks/xmr.ts'
import type { NetworkDefinition } from '../../server/src/core/domain/network.ts'
import { privacyDefaults } from '../../server/src/exchange/settings.ts'
import type { FeedFigures } from './feed-readings.ts'

/**
 * A simulated hundred private exchanges BTC → intermediary → ETH, with block times and price movements of the real chains.
 * Times are in seconds. `noise` is the largest deviation of a payout from the market (`privacy.payoutBps`), as a fraction.
 */
export type Case = Readonly<{
  intermediary: 'ltc' | 'xmr'
  sizes: 'random' | 'equal'
  arriveS: number
  delayS: number
  noise: number
  /** False: the payment between the legs is the plain conversion of the deposit. */
  isPartWithheld: boolean
  /** The analyst of a Monero exchange also reads the reserves in the feed. Absent: the rates only. */
  feed?: FeedFigures
}>

/** Everything that the chains and the published rates show. Entries with the same index belong to one exchange. */
export type SimulatedRun = Readonly<{
  /** `creditedAt`: the block with the last confirmation that the deposit needs. Fixes the rate of the first leg. */
  payers: readonly Readonly<{ amount: number; creditedAt: number }>[]
  /** Not visible on Monero. `convertedAt`: the block that fixes the rate of the second leg. */
  intermediaryPayments: readonly Readonly<{ amount: number; sentAt: number; convertedAt: number }>[]
  recipients: readonly Readonly<{ amount: number; paidAt: number }>[]
  /** Block times of the intermediary's chain. */
  intermediaryBlocks: readonly number[]
  readFirstPrice(time: number): number
  readSecondPrice(time: number): number
}>

export const COUNT = 100
type BlockRules = Readonly<{ blockS: number; confirmations: number }>
/** Mean block time of the real chain, and the confirmations that a small payment needs. */
const rulesOf = ({ blockTimeMs, production }: NetworkDefinition): BlockRules => ({
  blockS: blockTimeMs / 1_000,
  confirmations: production.confirmations,
})
export const BTC = rulesOf(btc)
export const intermediaries: Readonly<Record<Case['intermediary'], BlockRules>> = {
  ltc: rulesOf(ltc),
  xmr: rulesOf(xmr),
}
export const ETH_BLOCK_S = eth.blockTimeMs / 1_000
/** The withheld part with the default settings: a tenth of `privacy.withheldBps` up to all of it. */
export const WITHHELD = { min: privacyDefaults.withheldMaxPpm / 10 / 1e6, max: privacyDefaults.withheldMaxPpm / 1e6 }
/** Standard deviation of each exchange rate over a day. */
const DAILY_DEVIATION = 0.03
const DAY_S = 86_400
/** Length of one step of a simulated price. */
const STEP_S = 30
/** Random sizes spread over a factor of ten, uniformly in the logarithm. */
const LOG_OF_TEN = Math.LN10

/** `drawUnit` draws a number from 0 up to, but not including, 1. */
export function simulateRun(parameters: Case, drawUnit: () => number): SimulatedRun {
  const { delayS, noise } = parameters
  const rules = intermediaries[parameters.intermediary]
  const endS = parameters.arriveS + 2 * delayS + DAY_S
  const btcBlocks = drawBlocks(drawUnit, BTC.blockS, endS)
  const intermediaryBlocks = drawBlocks(drawUnit, rules.blockS, endS)
  const [firstPrices, secondPrices] = [drawPrices(drawUnit, endS), drawPrices(drawUnit, endS)]
  const exchanges = Array.from({ length: COUNT }, () => {
    const amount = parameters.sizes === 'equal' ? 1 : Math.exp(drawUnit() * LOG_OF_TEN)
    const creditedAt = findConfirmationTime(btcBlocks, drawUnit() * parameters.arriveS, BTC.confirmations)
    const sentAt = creditedAt + drawUnit() * delayS
    const convertedAt = findConfirmationTime(intermediaryBlocks, sentAt, rules.confirmations)
    const paidAt = roundUpToMultiple(convertedAt + drawUnit() * delayS, ETH_BLOCK_S)
    const withheld = parameters.isPartWithheld ? WITHHELD.min + drawUnit() * (WITHHELD.max - WITHHELD.min) : 0
    const converted = amount * readPrice(firstPrices, creditedAt)
    const paid = converted * readPrice(secondPrices, convertedAt) * (1 + (2 * drawUnit() - 1) * noise)
    return {
      payer: { amount, creditedAt },
      intermediaryPayment: { amount: converted * (1 - withheld), sentAt, convertedAt },
      recipient: { amount: paid, paidAt },
    }
  })
  return {
    payers: exchanges.map(({ payer }) => payer),
    intermediaryPayments: exchanges.map(({ intermediaryPayment }) => intermediaryPayment),
    recipients: exchanges.map(({ recipient }) => recipient),
    intermediaryBlocks,
    readFirstPrice: (time) => readPrice(firstPrices, time),
    readSecondPrice: (time) => readPrice(secondPrices, time),
  }
}

/** Block times of a Poisson process. */
function drawBlocks(drawUnit: () => number, blockS: number, endS: number): readonly number[] {
  const times: number[] = []
  let at = 0
  while (at < endS) {
    times.push(at)
    at -= Math.log(1 - drawUnit()) * blockS
  }
  return times
}

/** Time at which a payment that was sent at `time` has its confirmations. */
function findConfirmationTime(blocks: readonly number[], time: number, confirmations: number): number {
  const index = blocks.findIndex((at) => at > time)
  return blocks[index + confirmations - 1] ?? Number.POSITIVE_INFINITY
}

function drawPrices(drawUnit: () => number, endS: number): readonly number[] {
  const move = DAILY_DEVIATION * Math.sqrt(STEP_S / DAY_S)
  let price = 1
  return Array.from({ length: Math.ceil(endS / STEP_S) + 1 }, () => {
    price *= 1 + move * (drawUnit() < 0.5 ? -1 : 1)
    return price
  })
}

const readPrice = (prices: readonly number[], time: number): number =>
  prices[Math.min(Math.max(Math.floor(time / STEP_S), 0), prices.length - 1)] ?? 1

const roundUpToMultiple = (time: number, step: number): number => Math.ceil(time / step) * step
