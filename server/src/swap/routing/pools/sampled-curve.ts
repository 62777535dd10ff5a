import { type Curve, createCurve, type Hyperbola } from '../curve.ts'

/** What a pool has paid after so much went in, and what a further unit would pay. Both after all fees. */
export type Point = Readonly<{ out: number; price: number }>

type Node = Readonly<{ in: number }> & Point

const PIECES_MAX = 48
/** Difference (`errorBetween`) that is not worth a sample. */
const ERROR_MAX = 1e-8
const HALVINGS_MAX = 30
/** The least fall of the price within a piece: the dual needs a falling price for a unique answer. */
export const FALL_MIN = 1e-8

/**
 * The curve of what has no closed form, from samples: between each two a hyperbola that pays what the pool pays, begins no dearer
 * and ends no cheaper than the pool, so that prices fall from one to the next. Where the hyperbola bends least like the pool
 * another sample is taken. `most` is what goes in at most. Where the price rises (a fee that falls towards the peg) the curve stays
 * level; where it is no longer above zero the curve ends.
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

/** Hyperbola that pays `price` at first and `price · (1 − fall)` after `width`. */
export function hyperbola(price: number, fall: number, width: number): Hyperbola {
  // √(p₀ ÷ p₁) − 1 without the loss of digits where both are nearly equal.
  const root = 1 / Math.sqrt(1 - fall)
  const reserveIn = (width * (root + 1) * (1 - fall)) / fall
  return { reserveIn, reserveOut: reserveIn * price, capacity: width }
}

/** What goes in at most, or as much of it by halves as still pays. */
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
    // A hyperbola's mean price is the geometric mean of those at its ends.
    const mean = Math.min((next.out - node.out) / width, priceMax * (1 - FALL_MIN / 2))
    const halfRatio = Math.max(1 + FALL_MIN / 2, Math.min(priceMax / mean, mean / next.price))
    hyperbolas.push(hyperbola(mean * halfRatio, 1 - 1 / halfRatio ** 2, width))
    last = mean / halfRatio
  }
  return hyperbolas
}

/** How differently the two bend between these nodes, in parts of all that was paid until the second. */
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
