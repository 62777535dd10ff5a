/*
 * Output of a pool as a function of its input, in float64, for the search only. Quotes are computed in exact integers (`execute.ts`).
 *
 * Every pool kind is a sequence of hyperbolas. Within one hyperbola an input x pays `y = γ·x·b ÷ (a + γ·x)`: a constant product with
 * reserves a and b and fee factor γ. Uniswap V2 is one hyperbola of unlimited capacity, concentrated liquidity is one hyperbola between two
 * ticks each, and functions without a closed form (stable, weighted) are sampled and interpolated by hyperbolas.
 */
export type Curve = Readonly<{
  /** 1 − the pool's fee, 0 to 1. */
  feeFactor: number
  /** Marginal price of the first unit of each hyperbola, after the fee, in decreasing order. */
  price: Float64Array
  /** Virtual reserves of each hyperbola at its start; `reserveIn` is divided by `feeFactor`, so inputs include the fee. */
  reserveIn: Float64Array
  reserveOut: Float64Array
  /** √price. */
  root: Float64Array
  /** Cumulative input and output at the start of each hyperbola. One entry longer: the last entry is the capacity of the pool. */
  startIn: Float64Array
  startOut: Float64Array
  /** Gas of one swap through this pool. */
  gas: number
}>

/** One hyperbola of a curve: virtual reserves at its start, and the input, fee included, up to the start of the next one. */
export type Hyperbola = Readonly<{ reserveIn: number; reserveOut: number; capacity: number }>

/** Joins hyperbolas, ordered by decreasing price, to a curve. Drops those without reserves or capacity. */
export function createCurve(hyperbolas: readonly Hyperbola[], feeFactor: number, gas: number): Curve {
  const nonEmpty = hyperbolas.filter(
    ({ reserveIn, reserveOut, capacity }) => reserveIn > 0 && reserveOut > 0 && capacity > 0,
  )
  const count = nonEmpty.length
  const curve = {
    feeFactor,
    price: new Float64Array(count),
    reserveIn: new Float64Array(count),
    reserveOut: new Float64Array(count),
    root: new Float64Array(count),
    startIn: new Float64Array(count + 1),
    startOut: new Float64Array(count + 1),
    gas,
  }
  for (const [index, { reserveIn, reserveOut, capacity }] of nonEmpty.entries()) {
    const grossReserveIn = reserveIn / feeFactor
    curve.price[index] = reserveOut / grossReserveIn
    curve.reserveIn[index] = grossReserveIn
    curve.reserveOut[index] = reserveOut
    curve.root[index] = Math.sqrt(reserveOut / grossReserveIn)
    curve.startIn[index + 1] = (curve.startIn[index] as number) + capacity
    const output =
      capacity === Number.POSITIVE_INFINITY ? reserveOut : (capacity * reserveOut) / (grossReserveIn + capacity)
    curve.startOut[index + 1] = (curve.startOut[index] as number) + output
  }
  return curve
}

/** Share of a pool's capacity that the search leaves unused, because rounded shares bring slightly more or less than planned. */
const CAPACITY_MARGIN = 1e-6

/** The same curve with its end moved to `CAPACITY_MARGIN` below the pool's capacity. */
export function withCapacityMargin(curve: Curve): Curve {
  const count = curve.price.length
  const capacity = curve.startIn[count] as number
  if (count === 0 || capacity === Number.POSITIVE_INFINITY) return curve
  const [begin, reserve] = [curve.startIn[count - 1] as number, curve.reserveIn[count - 1] as number]
  const end = Math.max(begin, capacity * (1 - CAPACITY_MARGIN))
  const output = ((end - begin) * (curve.reserveOut[count - 1] as number)) / (reserve + end - begin)
  const startIn = Float64Array.from(curve.startIn)
  const startOut = Float64Array.from(curve.startOut)
  startIn[count] = end
  startOut[count] = (startOut[count - 1] as number) + output
  return { ...curve, startIn, startOut }
}

/** The curve with each output times `factor`. */
export function scaleOutput(curve: Curve, factor: number): Curve {
  const scale = (numbers: Float64Array, by: number) => numbers.map((one) => one * by)
  return {
    ...curve,
    price: scale(curve.price, factor),
    reserveOut: scale(curve.reserveOut, factor),
    root: scale(curve.root, Math.sqrt(factor)),
    startOut: scale(curve.startOut, factor),
  }
}

/** Total input and output of one or several parallel pools that trade up to one marginal price. */
export type Trade = {
  in: number
  out: number
  /** Profit at that price, in units of the input token: out ÷ price − in. */
  profit: number
  /** −d(in) ÷ d(price) */
  sensitivity: number
}

/**
 * Adds to `trade` the optimal trade of this pool at `price`: up to the point where its marginal price equals `price`; `root` is √price.
 * With q = √(first price ÷ price) − 1 the input is a·q, the output b·q ÷ (1 + q) and the profit a·q². These forms have no cancellation,
 * so small trades keep full precision.
 */
export function tradeTo(curve: Curve, price: number, root: number, trade: Trade): void {
  const index = lastIndexAbove(curve.price, price)
  if (index < 0) return
  const inputBefore = curve.startIn[index] as number
  const outputBefore = curve.startOut[index] as number
  const reserve = curve.reserveIn[index] as number
  const q = Math.max(0, (curve.root[index] as number) / root - 1)
  const end = curve.startIn[index + 1] as number
  if (inputBefore + reserve * q >= end) {
    const outputAtEnd = curve.startOut[index + 1] as number
    trade.in += end
    trade.out += outputAtEnd
    trade.profit += outputAtEnd / price - end
    return
  }
  trade.in += inputBefore + reserve * q
  trade.out += outputBefore + ((curve.reserveOut[index] as number) * q) / (1 + q)
  trade.profit += outputBefore / price - inputBefore + reserve * q * q
  trade.sensitivity += (reserve * (1 + q)) / (2 * price)
}

/** Index of the last of the decreasing `prices` that is above `price`, or −1. */
function lastIndexAbove(prices: Float64Array, price: number): number {
  if (!((prices[0] as number) > price)) return -1
  let low = 0
  let high = prices.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((prices[middle] as number) > price) low = middle
    else high = middle - 1
  }
  return low
}

/** Index of the hyperbola that contains the input `amount`. */
function hyperbolaAt({ startIn, price }: Curve, amount: number): number {
  let low = 0
  let high = price.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((startIn[middle] as number) <= amount) low = middle
    else high = middle - 1
  }
  return low
}

/** Output of the pool for the input `amount`; NaN if that exceeds the capacity. */
export function outputOf(curve: Curve, amount: number): number {
  if (!(amount <= (curve.startIn[curve.price.length] as number))) return Number.NaN
  const index = hyperbolaAt(curve, amount)
  const rest = amount - (curve.startIn[index] as number)
  return (
    (curve.startOut[index] as number) +
    (rest * (curve.reserveOut[index] as number)) / ((curve.reserveIn[index] as number) + rest)
  )
}
