import { createHmac } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { assert, present } from '../../lib/assert.ts'

const { Point } = secp256k1
const { Fp, Fn } = Point
const PRIME = Fp.ORDER

type Affine = Readonly<{ x: bigint; y: bigint }>
type Parent = Readonly<{ publicKey: Uint8Array; chainCode: Uint8Array }>

const WINDOW_BITS = 8
const WINDOWS = 256 / WINDOW_BITS

/**
 * Public children of a BIP-32 key (CKDpub: `point(parse256(I_L)) + K_par`), many at once, compressed. In affine
 * coordinates an addition is cheap but for its inversion, which all keys of a step share: a tenth of what the library
 * takes for one, whose multiplication hides its scalar, too. Here nothing is secret: tweaks follow from public data.
 */
export function deriveChildren({ publicKey, chainCode }: Parent, indexes: readonly number[]): Uint8Array[] {
  const parent = Point.fromBytes(publicKey).toAffine()
  const tweaks = indexes.map((index) => tweakOf(publicKey, chainCode, index))
  let points: readonly Affine[] = indexes.map(() => parent)
  // A tweak's byte w is its digit of 256^w, from the last to the first.
  for (let window = 0; window < WINDOWS; window++) {
    const multiples = present(table()[window], 'a window of the table')
    points = addEach(
      points,
      tweaks.map((tweak) => multiples[tweak[WINDOWS - 1 - window] ?? 0] ?? null),
    )
  }
  return points.map(({ x, y }) => Point.fromAffine({ x, y }).toBytes(true))
}

function tweakOf(publicKey: Uint8Array, chainCode: Uint8Array, index: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32BE(index)
  const tweak = createHmac('sha512', chainCode).update(publicKey).update(number).digest().subarray(0, 32)
  // One index in 2^127 has no key.
  assert(Fn.isValidNot0(BigInt(`0x${tweak.toString('hex')}`)), 'the index has a key')
  return tweak
}

let known: readonly (readonly (Affine | null)[])[] | null = null

/** Row w holds d × 256^w × G for every byte d; null for none of it. A megabyte, made in a twentieth of a second. */
function table(): readonly (readonly (Affine | null)[])[] {
  if (known) return known
  const rows: (Affine | null)[][] = []
  let unit = Point.BASE
  for (let window = 0; window < WINDOWS; window++) {
    const row = []
    let multiple = unit
    for (let digit = 1; digit < 1 << WINDOW_BITS; digit++) {
      row.push(multiple)
      multiple = multiple.add(unit)
    }
    const inverses = invertEach(row.map(({ Z }) => Z))
    rows.push([
      null,
      ...row.map(({ X, Y }, n) => ({ x: (X * (inverses[n] ?? 0n)) % PRIME, y: (Y * (inverses[n] ?? 0n)) % PRIME })),
    ])
    unit = multiple
  }
  known = rows
  return rows
}

/** Adds to each point its own other one, where there is one. */
function addEach(points: readonly Affine[], others: readonly (Affine | null)[]): Affine[] {
  const inverses = invertEach(points.map(({ x }, n) => reduced((others[n]?.x ?? x + 1n) - x)))
  return points.map((point, n) => {
    const other = others[n]
    if (!other) return point
    const slope = ((other.y - point.y) * (inverses[n] ?? 0n)) % PRIME
    const x = reduced(slope * slope - point.x - other.x)
    return { x, y: reduced(slope * (point.x - x) - point.y) }
  })
}

/** Inverts all with one inversion (Montgomery). */
function invertEach(values: readonly bigint[]): bigint[] {
  let product = 1n
  const before = values.map((value) => {
    // Zero: the same point twice, or its negative. By chance once in 2^250 keys.
    assert(value !== 0n, 'a difference has an inverse')
    const earlier = product
    product = (product * value) % PRIME
    return earlier
  })
  let inverse = Fp.inv(reduced(product))
  const inverses = before
  for (let n = values.length - 1; n >= 0; n--) {
    inverses[n] = ((before[n] ?? 0n) * inverse) % PRIME
    inverse = (inverse * (values[n] ?? 0n)) % PRIME
  }
  return inverses
}

function reduced(value: bigint): bigint {
  const rest = value % PRIME
  return rest < 0n ? rest + PRIME : rest
}
