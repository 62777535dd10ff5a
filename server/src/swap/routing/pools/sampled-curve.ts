import { type Curve, createCurve, type Hyperbola } from '../curve.ts'

/** Output and marginal price of a pool after some input, both after all fees. */
export type Point = Readonly<{ out: number; price: number }>

type Node = Readonly<{ in: number }> & Point

/** Hyperbolas of one curve. */
const PIECES_MAX = 48
/** Sampling ends when no piece has a larger error (`errorBetween`). */
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
  const nodes = [first, last]
  const errors = [errorBetween(first, last)]
  while (nodes.length <= PIECES_MAX) {
    const worst = indexOfGreatest(errors)
    const before = nodes[worst]
    const after = nodes[worst + 1]
    if (before === undefined || after === undefined || (errors[worst] as number) < ERROR_MAX) break
    const middle = before.in === 0 ? after.in / 8 : Math.sqrt(before.in * after.in)
    const node: Node = { in: middle, ...at(middle) }
    if (!isValidPoint(node)) return null
    nodes.splice(worst + 1, 0, node)
    errors.splice(worst, 1, errorBetween(before, node), errorBetween(node, after))
  }
  return createCurve(joinNodes(nodes), 1, gas)
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

function joinNodes(nodes: readonly Node[]): Hyperbola[] {
  const hyperbolas: Hyperbola[] = []
  let last = Number.POSITIVE_INFINITY
  for (const [index, node] of nodes.entries()) {
    const next = nodes[index + 1]
    if (next === undefined) break
    const width = next.in - node.in
    const priceMax = Math.min(node.price, last)
    // The mean price of a hyperbola is the geometric mean of the prices at its ends.
    const mean = Math.min((next.out - node.out) / width, priceMax * (1 - FALL_MIN / 2))
    const halfRatio = Math.max(1 + FALL_MIN / 2, Math.min(priceMax / mean, mean / next.price))
    hyperbolas.push(hyperbola(mean * halfRatio, 1 - 1 / halfRatio ** 2, width))
    last = mean / halfRatio
  }
  return hyperbolas
}

/** Error of the hyperbola between two nodes, relative to the output at the second node. */
function errorBetween(a: Node, b: Node): number {
  const output = b.out - a.out
  const mean = output / (b.in - a.in)
  return Math.abs(Math.log((a.price * b.price) / mean ** 2)) * (output / b.out)
}

function isValidPoint({ out, price }: Node): boolean {
  return Number.isFinite(out) && out >= 0 && price > 0 && Number.isFinite(price)
}

function indexOfGreatest(numbers: readonly number[]): number {
  let best = 0
  for (const [index, number] of numbers.entries()) if (number > (numbers[best] as number)) best = index
  return best
}
