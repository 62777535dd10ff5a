import { type Curve, createCurve, type Hyperbola } from '../curve.ts'

/** Output and marginal price of a pool after some input, both after all fees. */
export type Point = Readonly<{ out: number; price: number }>

type Node = Readonly<{ in: number }> & Point

/** The part of the curve between two samples, and a sample inside of it, which shows its error. */
type Piece = Readonly<{ start: Node; middle: Node; end: Node; error: number }>

/** Hyperbolas of one curve. */
const PIECES_MAX = 48
/** Sampling ends when no piece has a larger error. */
const ERROR_MAX = 1e-8
const HALVINGS_MAX = 30
/** Least relative price decrease within a piece. The dual needs strictly decreasing prices for a unique solution. */
export const FALL_MIN = 1e-8

/**
 * The curve of a function without a closed form. Between two samples it is a hyperbola with the pool's output, whose first price is at most
 * and whose last price is at least the pool's, so prices decrease from piece to piece. Further samples are taken where the hyperbola
 * approximates the pool worst. `inputMax` is the largest input. Where the pool's price increases (a fee that decreases toward the peg) the
 * curve stays level. The curve ends where the price is not above zero.
 */
export function sampledCurve(at: (amountIn: number) => Point, inputMax: number, gas: number): Curve | null {
  const first: Node = { in: 0, ...at(0) }
  const last = lastValidNode(at, inputMax)
  if (!isValidPoint(first) || last === null) return null
  const pieces = [pieceBetween(at, first, last)]
  while (pieces.length < PIECES_MAX) {
    const worst = indexOfGreatest(pieces.map(({ error }) => error))
    const { start, middle, end, error } = pieces[worst] as Piece
    if (error < ERROR_MAX) break
    if (!isValidPoint(middle)) return null
    pieces.splice(worst, 1, pieceBetween(at, start, middle), pieceBetween(at, middle, end))
  }
  return createCurve(joinPieces(pieces), 1, gas)
}

function pieceBetween(at: (amountIn: number) => Point, start: Node, end: Node): Piece {
  const amountIn = start.in === 0 ? end.in / 8 : Math.sqrt(start.in * end.in)
  const middle = { in: amountIn, ...at(amountIn) }
  return { start, middle, end, error: Math.max(errorAtEnds(start, end), errorInside(start, middle, end)) }
}

/** Hyperbola whose marginal price is `price` at its start and `price · (1 − fall)` after the input `width`. */
export function hyperbola(price: number, fall: number, width: number): Hyperbola {
  // √(p₀ ÷ p₁) − 1, rearranged to avoid cancellation for nearly equal prices.
  const root = 1 / Math.sqrt(1 - fall)
  const reserveIn = (width * (root + 1) * (1 - fall)) / fall
  return { reserveIn, reserveOut: reserveIn * price, capacity: width }
}

/** The node at `inputMax`, halved until the pool's point is valid; null if none is. */
function lastValidNode(at: (amountIn: number) => Point, inputMax: number): Node | null {
  for (let halvings = 0; halvings < HALVINGS_MAX; halvings++) {
    const node = { in: inputMax / 2 ** halvings, ...at(inputMax / 2 ** halvings) }
    if (isValidPoint(node)) return node
  }
  return null
}

function joinPieces(pieces: readonly Piece[]): Hyperbola[] {
  let last = Number.POSITIVE_INFINITY
  return pieces.map(({ start, end }) => {
    const [joined, price] = hyperbolaBetween(start, end, Math.min(start.price, last))
    last = price
    return joined
  })
}

/** The hyperbola between two samples, with a first price of at most `priceMax`, and its last price. */
function hyperbolaBetween(start: Node, end: Node, priceMax: number): readonly [Hyperbola, number] {
  const width = end.in - start.in
  // The mean price of a hyperbola is the geometric mean of the prices at its ends.
  const mean = Math.min((end.out - start.out) / width, priceMax * (1 - FALL_MIN / 2))
  const halfRatio = Math.max(1 + FALL_MIN / 2, Math.min(priceMax / mean, mean / end.price))
  return [hyperbola(mean * halfRatio, 1 - 1 / halfRatio ** 2, width), mean / halfRatio]
}

/** Error of the prices at the ends of the hyperbola, relative to the output at the second sample. */
function errorAtEnds(start: Node, end: Node): number {
  const output = end.out - start.out
  const mean = output / (end.in - start.in)
  return Math.abs(Math.log((start.price * end.price) / mean ** 2)) * (output / end.out)
}

/** Error of the hyperbola's output at the sample inside. The prices at the ends fit a curve of another shape by chance. */
function errorInside(start: Node, middle: Node, end: Node): number {
  const [{ reserveIn, reserveOut }] = hyperbolaBetween(start, end, start.price)
  const input = middle.in - start.in
  return Math.abs((reserveOut * input) / (reserveIn + input) - (middle.out - start.out)) / middle.out
}

function isValidPoint({ out, price }: Node): boolean {
  return Number.isFinite(out) && out >= 0 && price > 0 && Number.isFinite(price)
}

function indexOfGreatest(numbers: readonly number[]): number {
  let best = 0
  for (const [index, number] of numbers.entries()) if (number > (numbers[best] as number)) best = index
  return best
}
