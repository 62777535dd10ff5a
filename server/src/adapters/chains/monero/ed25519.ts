import { ed25519 } from '@noble/curves/ed25519.js'
import { keccak_256 } from '@noble/hashes/sha3.js'

/** Below the order of the prime group. Points are in their compressed form (RFC 8032). */
export type Scalar = bigint

const { Point } = ed25519
const ORDER = Point.Fn.ORDER
type Group = InstanceType<typeof Point>

export function keccak(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = keccak_256.create()
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Little-endian bytes of any length, reduced by the order of the group. */
export function toScalar(bytes: Uint8Array): Scalar {
  return littleEndian(bytes) % ORDER
}

export function scalarBytes(scalar: Scalar): Uint8Array {
  return bytesOf(((scalar % ORDER) + ORDER) % ORDER, 32)
}

export function littleEndian(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

export function bytesOf(value: bigint, length: number): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex').reverse())
}

/** Null where the bytes are no point, or name it otherwise than it is written. */
export function readPoint(bytes: Uint8Array): Group | null {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return null
  }
}

/** In the group of prime order, so that no multiple of it by a small number is neutral. */
export function isPrime(point: Group): boolean {
  return !point.is0() && point.isTorsionFree()
}

export function timesBase(scalar: Scalar): Group {
  return scalar % ORDER === 0n ? Point.ZERO : Point.BASE.multiply(scalar % ORDER)
}

/** In time that depends on the scalar: for what others cannot measure, and for what is public. */
export function times(point: Group, scalar: Scalar): Group {
  return scalar % ORDER === 0n ? Point.ZERO : point.multiplyUnsafe(scalar % ORDER)
}

const P = Point.Fp.ORDER
/** The curve's Montgomery form has this coefficient (RFC 7748, curve25519). */
const A = 486_662n
const fp = Point.Fp

/**
 * A point that follows from bytes, whose logarithm nobody knows: Elligator's map of their Keccak hash, times the cofactor
 * (Monero's `ge_fromfe_frombytes_vartime`; its paper: Nicolas van Saberhagen's hash to point, Shen Noether's MRL note).
 */
export function hashToPoint(bytes: Uint8Array): Group {
  const u = littleEndian(keccak(bytes)) % P
  const w = fp.add(fp.mul(2n, fp.sqr(u)), 1n)
  const x = fp.sub(fp.sqr(w), fp.mul(fp.mul(2n * A, A), fp.sqr(u)))
  const root = (value: bigint): bigint | null => {
    try {
      return fp.sqrt(value)
    } catch {
      return null
    }
  }
  // x of the Edwards form is u·√(2A(A+2)·w/x), or √(A(A+2)·w/x) without u where the first is no square; the sign follows.
  const ratio = fp.div(w, x)
  const square = fp.mul(fp.mul(2n * A, A + 2n), ratio)
  const first = root(square)
  const second = first ?? root(fp.mul(fp.mul(A, A + 2n), ratio))
  if (second === null) throw new Error('the map has a root for every hash')
  const isFirst = first !== null
  const z = isFirst ? fp.mul(fp.neg(2n * A), fp.sqr(u)) : fp.neg(A)
  const magnitude = isFirst ? fp.mul(second, u) : second
  const sign = isFirst ? 0n : 1n
  const signed = (magnitude & 1n) === sign ? magnitude : fp.neg(magnitude)
  const below = fp.add(z, w)
  return Point.fromAffine({ x: signed, y: fp.div(fp.sub(z, w), below) }).clearCofactor()
}
