import { createRandom } from '../chaos/random.ts'
import { type Match, match, type Seen } from './matcher.ts'

/** What of a run differs from another. Times in seconds; `noise` is the most by which a payout differs from the market, as a fraction. */
export type Case = Readonly<{ sizes: 'random' | 'equal'; arriveS: number; delayS: number; noise: number }>

const COUNT = 100
/** Bitcoin → Litecoin → Ethereum as they are: a block on average, and confirmations before a payment counts. */
const [BTC, LTC] = [
  { blockS: 600, confirmations: 2 },
  { blockS: 150, confirmations: 6 },
]
const ETH_BLOCK_S = 12
/** A day's standard deviation of either price against the other. */
const DAY_MOVE = 0.03
const DAY_S = 86_400
/** The path of a price is drawn in steps of so many seconds. */
const STEP_S = 30
/** A decade, evenly in its logarithm. */
const DECADE = Math.LN10

/**
 * A hundred exchanges on chains with blocks as real ones have them and with prices that move, and the matcher's guess. The
 * analyst sees payments when they are sent, blocks, and all prices; and knows at which confirmation the first leg is
 * converted, but not when the second one is.
 */
export function playCase(it: Case, seed: number): Match {
  const random = createRandom(seed)
  const unit = () => random.draw(0, 2 ** 30) / 2 ** 30
  const endS = it.arriveS + 2 * it.delayS + DAY_S
  const blocks = { btc: drawBlocks(unit, BTC.blockS, endS), ltc: drawBlocks(unit, LTC.blockS, endS) }
  const prices = { first: drawPrices(unit, endS), second: drawPrices(unit, endS) }
  const payers: Seen[] = []
  const recipients: Seen[] = []
  for (let n = 0; n < COUNT; n++) {
    const amount = it.sizes === 'equal' ? 1 : Math.exp(unit() * DECADE)
    const counted = deepAt(blocks.btc, unit() * it.arriveS, BTC.confirmations)
    const converted = deepAt(blocks.ltc, counted + unit() * it.delayS, LTC.confirmations)
    const paid = nextMultiple(converted + unit() * it.delayS, ETH_BLOCK_S)
    const market = priceAt(prices.first, counted) * priceAt(prices.second, converted)
    payers.push({ asset: 'btc', amount, time: counted })
    recipients.push({ asset: 'eth', amount: amount * market * (1 + (2 * unit() - 1) * it.noise), time: paid })
  }
  // The second leg was converted somewhere in the last wait: the middle of it is the best guess.
  const expected = ({ amount, time }: Seen, to: Pick<Seen, 'time'>) =>
    amount * priceAt(prices.first, time) * priceAt(prices.second, to.time - it.delayS / 2)
  const unsure = DAY_MOVE * Math.sqrt(it.delayS / 3 / DAY_S)
  const same = Math.max(unsure + it.noise / 2, 0.0001)
  return match(payers, recipients, expected, { leastSeconds: 0, mostSeconds: mostSeconds(it), same }, (most) =>
    random.draw(0, most),
  )
}

/** Both waits, and ten blocks' time of what the intermediary needs: more is seen in one of thousands. */
const mostSeconds = ({ delayS }: Case): number => 2 * delayS + 3 * LTC.blockS * (LTC.confirmations + 1)

/** Times of blocks, as miners find them. */
function drawBlocks(unit: () => number, blockS: number, endS: number): readonly number[] {
  const times: number[] = []
  let at = 0
  while (at < endS) {
    times.push(at)
    at -= Math.log(1 - unit()) * blockS
  }
  return times
}

/** When a payment of that time has its confirmations. */
function deepAt(blocks: readonly number[], time: number, confirmations: number): number {
  const index = blocks.findIndex((at) => at > time)
  return blocks[index + confirmations - 1] ?? Number.POSITIVE_INFINITY
}

function drawPrices(unit: () => number, endS: number): readonly number[] {
  const move = DAY_MOVE * Math.sqrt(STEP_S / DAY_S)
  let price = 1
  return Array.from({ length: Math.ceil(endS / STEP_S) + 1 }, () => {
    price *= 1 + move * (unit() < 0.5 ? -1 : 1)
    return price
  })
}

const priceAt = (prices: readonly number[], time: number): number =>
  prices[Math.min(Math.max(Math.floor(time / STEP_S), 0), prices.length - 1)] ?? 1

const nextMultiple = (time: number, step: number): number => Math.ceil(time / step) * step

/** Many runs of one case, as a share. */
export function hitRate(it: Case, rounds: number): number {
  let hits = 0
  for (let round = 0; round < rounds; round++) hits += playCase(it, 1 + round).hits
  return hits / (rounds * COUNT)
}
