import { createRandom } from '../support/random.ts'
import { createFeedWeight } from './feed-readings.ts'
import { type ChainCosts, type Cost, type Match, matchChains, matchPairs } from './matcher.ts'
import {
  type Case,
  COUNT,
  ETH_BLOCK_S,
  intermediaries,
  type SimulatedRun,
  simulateRun,
  WITHHELD,
} from './simulation.ts'

/**
 * The fraction by which an amount may differ from the published rate and still count as equal: the movement of a price
 * within the second in which we convert, at 3 % a day.
 */
const PRECISION = 0.0001
/** Standard deviations. Beyond them an amount is impossible. */
const PRECISION_MAX = 5

/**
 * Simulates a hundred exchanges and matches them. The analyst sees every payment on every transparent chain with its amount,
 * its block and the time at which it was broadcast, and knows all rates, fees, confirmations and the bounds of every random
 * value. On a transparent intermediary these are also the payments between the legs; on Monero only its block times.
 */
export function simulateCase(parameters: Case, seed: number): Match {
  const random = createRandom(seed)
  const run = simulateRun(parameters, () => random.draw(0, 2 ** 30) / 2 ** 30)
  const drawBelow = (limit: number) => random.draw(0, limit)
  if (parameters.intermediary === 'xmr') return matchPairs(COUNT, createPairCost(run, parameters), drawBelow)
  return matchChains(COUNT, createChainCosts(run, parameters), drawBelow)
}

/** Mean hit rate of many runs of one case. */
export function measureHitRate(parameters: Case, rounds: number): number {
  let hits = 0
  for (let round = 0; round < rounds; round++) hits += simulateCase(parameters, 1 + round).hits
  return hits / (rounds * COUNT)
}

/** What the analyst computes for each payment: logarithms of amounts at the known rates. */
function readLogs({ payers, intermediaryPayments, recipients, readFirstPrice, readSecondPrice }: SimulatedRun) {
  return {
    converted: payers.map(({ amount, creditedAt }) => Math.log(amount * readFirstPrice(creditedAt))),
    sent: intermediaryPayments.map(({ amount }) => Math.log(amount)),
    secondRate: intermediaryPayments.map(({ convertedAt }) => Math.log(readSecondPrice(convertedAt))),
    paid: recipients.map(({ amount }) => Math.log(amount)),
  }
}

/** A transparent intermediary: both legs are visible, and the block of the payment between them fixes the second rate. */
function createChainCosts(run: SimulatedRun, { delayS, noise, isPartWithheld }: Case): ChainCosts {
  const logs = readLogs(run)
  const withheldMin = isPartWithheld ? -Math.log(1 - WITHHELD.min) : 0
  const withheldMax = isPartWithheld ? -Math.log(1 - WITHHELD.max) : 0
  const isWithin = (value: number, min: number, max: number) => value >= min && value <= max
  return {
    candidates: COUNT,
    first: (payer, via) => {
      const seconds = read(run.intermediaryPayments, via).sentAt - read(run.payers, payer).creditedAt
      if (!isWithin(seconds, 0, delayS)) return null
      const withheld = read(logs.converted, payer) - read(logs.sent, via)
      const tolerance = PRECISION * PRECISION_MAX
      return isWithin(withheld, withheldMin - tolerance, withheldMax + tolerance) ? 0 : null
    },
    second: (via, recipient) => {
      const seconds = read(run.recipients, recipient).paidAt - read(run.intermediaryPayments, via).convertedAt
      return isWithin(seconds, 0, delayS + ETH_BLOCK_S) ? 0 : null
    },
    whole: (payer, via, recipient) =>
      findAmountCost(read(logs.paid, recipient) - read(logs.converted, payer) - read(logs.secondRate, via), noise),
  }
}

/**
 * Monero: the payment between the legs is hidden. Each block that could contain it gives another second rate; the likelihood
 * of a pair is the sum over these blocks.
 */
function createPairCost(run: SimulatedRun, { intermediary, delayS, noise, isPartWithheld, feed }: Case) {
  const { converted, paid } = readLogs(run)
  const { confirmations } = intermediaries[intermediary]
  const blocks = run.intermediaryBlocks
  const conversions = blocks.flatMap((at, n) => {
    const convertedAt = blocks[n + confirmations - 1]
    if (n === 0 || convertedAt === undefined) return []
    return [{ after: read(blocks, n - 1), at, convertedAt, logRate: Math.log(run.readSecondPrice(convertedAt)) }]
  })
  const possibleConversions = run.recipients.map(({ paidAt }) =>
    conversions.filter(({ convertedAt }) => convertedAt <= paidAt && convertedAt >= paidAt - delayS - ETH_BLOCK_S),
  )
  const weigh = feed === undefined ? () => 1 : createFeedWeight(run, feed)
  const [withheldMin, withheldMax] = isPartWithheld ? [WITHHELD.min, WITHHELD.max] : [0, 0]
  return (payer: number, recipient: number): Cost => {
    const { amount, creditedAt } = read(run.payers, payer)
    const plain = amount * run.readFirstPrice(creditedAt)
    const sent = { least: plain * (1 - withheldMax - PRECISION), most: plain * (1 - withheldMin + PRECISION) }
    let likelihood: number | null = null
    for (const { after, at, convertedAt, logRate } of read(possibleConversions, recipient)) {
      const share = findSendShare(creditedAt, delayS, after, at)
      if (share === 0) continue
      const cost = findAmountCost(read(paid, recipient) - read(converted, payer) - logRate, noise)
      const weight =
        cost === null ? 0 : weigh({ creditedAt, sent }, read(run.recipients, recipient).amount, convertedAt)
      likelihood = (likelihood ?? 0) + (cost === null ? 0 : share * weight * Math.exp(-cost))
    }
    return likelihood === null ? null : -Math.log(Math.max(likelihood, Number.MIN_VALUE))
  }
}

/** The probability that a payment with a random delay after `creditedAt` is sent between two blocks. */
function findSendShare(creditedAt: number, delayS: number, after: number, before: number): number {
  if (delayS === 0) return creditedAt >= after && creditedAt < before ? 1 : 0
  return Math.max(0, Math.min(before, creditedAt + delayS) - Math.max(after, creditedAt)) / delayS
}

/** `error`: the logarithm of the paid amount over the expected one. With noise all deviations within it are equally likely. */
function findAmountCost(error: number, noise: number): Cost {
  const deviation = Math.abs(error)
  const noiseLog = -Math.log(1 - noise)
  const excess = Math.max(0, deviation - noiseLog) / PRECISION
  return noise > 0 && excess > PRECISION_MAX ? null : (excess * excess) / 2
}

function read<T>(values: readonly T[], index: number): T {
  const value = values[index]
  if (value === undefined) throw new Error(`no value at ${index}`)
  return value
}
