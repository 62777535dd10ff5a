/*
 * How much a pool pays for how much, in float64: what the search compares. Nothing here is ever promised to anybody: what was
 * chosen is computed again in exact integers (`execute.ts`).
 *
 * Every pool kind is a run of hyperbolas. Within one of them a pool pays `y = γ·x·b ÷ (a + γ·x)`: a constant product with the
 * reserves a and b. Uniswap V2 is one of them without an end, concentrated liquidity one between each two ticks, and what has
 * no closed form (stable, weighted) is sampled and joined by them.
 */
export type Curve = Readonly<{
  /** Share of the input that is left after the pool's fee, 0 to 1. */
  feeFactor: number
  /** Per hyperbola, in order of falling price: the marginal price of its first unit, after the fee. */
  price: Float64Array
  /** Its reserves, of what goes in divided by `keep`, of what comes out as they are. */
  reserveIn: Float64Array
  reserveOut: Float64Array
  /** √price. */
  root: Float64Array
  /** Input and output before each hyperbola begins; one longer: the last entry is what the pool takes and pays at most. */
  startIn: Float64Array
  startOut: Float64Array
  /** Gas of one swap here. */
  gas: number
}>

/** One hyperbola of a curve: reserves at its start, and how much it takes before the next begins. */
export type Hyperbola = Readonly<{ reserveIn: number; reserveOut: number; capacity: number }>

/** The curve of these hyperbolas, which stand in order of falling price. Those that take nothing are left out. */
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
    const before = reserveIn / feeFactor
    curve.price[index] = reserveOut / before
    curve.reserveIn[index] = before
    curve.reserveOut[index] = reserveOut
    curve.root[index] = Math.sqrt(reserveOut / before)
    curve.startIn[index + 1] = (curve.startIn[index] as number) + capacity
    const paid = capacity === Number.POSITIVE_INFINITY ? reserveOut : (capacity * reserveOut) / (before + capacity)
    curve.startOut[index + 1] = (curve.startOut[index] as number) + paid
  }
  return curve
}

/** Share of what a pool takes at most that the search leaves free: what arrives differs from what was planned by rounded shares. */
const CAPACITY_MARGIN = 1e-6

/** The curve that ends a little before the pool does. */
export function withCapacityMargin(curve: Curve): Curve {
  const count = curve.price.length
  const capacity = curve.startIn[count] as number
  if (count === 0 || capacity === Number.POSITIVE_INFINITY) return curve
  const [begin, reserve] = [curve.startIn[count - 1] as number, curve.reserveIn[count - 1] as number]
  const end = Math.max(begin, capacity * (1 - CAPACITY_MARGIN))
  const paid = ((end - begin) * (curve.reserveOut[count - 1] as number)) / (reserve + end - begin)
  const startIn = Float64Array.from(curve.startIn)
  const startOut = Float64Array.from(curve.startOut)
  startIn[count] = end
  startOut[count] = (startOut[count - 1] as number) + paid
  return { ...curve, startIn, startOut }
}

/** What one pool, or several side by side, take and pay at one marginal price. */
export type Trade = {
  in: number
  out: number
  /** What is earned by it, in units of what goes in: out ÷ price − in. */
  profit: number
  /** −d(in) ÷ d(price) */
  sensitivity: number
}

/**
 * Adds to `trade` what this pool does as long as a further unit pays more than `price`; `root` is √price. With
 * q = √(first price ÷ price) − 1 it is a·q in, b·q ÷ (1 + q) out, and a·q² earned: nothing cancels, however little is traded.
 */
export function tradeTo(curve: Curve, price: number, root: number, trade: Trade): void {
  const index = lastIndexAbove(curve.price, price)
  if (index < 0) return
  const before = curve.startIn[index] as number
  const paid = curve.startOut[index] as number
  const reserve = curve.reserveIn[index] as number
  const q = Math.max(0, (curve.root[index] as number) / root - 1)
  const end = curve.startIn[index + 1] as number
  if (before + reserve * q >= end) {
    const all = curve.startOut[index + 1] as number
    trade.in += end
    trade.out += all
    trade.profit += all / price - end
    return
  }
  trade.in += before + reserve * q
  trade.out += paid + ((curve.reserveOut[index] as number) * q) / (1 + q)
  trade.profit += paid / price - before + reserve * q * q
  trade.sensitivity += (reserve * (1 + q)) / (2 * price)
}

/** Index of the last price above `price`, in falling order; −1 = none. */
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

/** The hyperbola in which the pool is after it took `amount`. */
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

/** What the pool pays for `amount`; NaN where it takes less. */
export function outputOf(curve: Curve, amount: number): number {
  if (!(amount <= (curve.startIn[curve.price.length] as number))) return Number.NaN
  const index = hyperbolaAt(curve, amount)
  const extra = amount - (curve.startIn[index] as number)
  return (
    (curve.startOut[index] as number) +
    (extra * (curve.reserveOut[index] as number)) / ((curve.reserveIn[index] as number) + extra)
  )
}
