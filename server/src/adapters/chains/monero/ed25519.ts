import { ed25519 } from '@noble/curves/ed25519.js'
import { keccak_256 } from '@noble/hashes/sha3.js'

/** A number below the order of the prime-order group. Encoded points are compressed (RFC 8032). */
export type Scalar = bigint

const { Point } = ed25519
const ORDER = Point.Fn.ORDER
type Group = InstanceType<typeof Point>
export const NEUTRAL: Group = Point.ZERO

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

/** Null if the bytes are no point or not its canonical encoding. */
export function readPoint(bytes: Uint8Array): Group | null {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return null
  }
}

/** Whether the point is in the prime-order group and not neutral, so that it has no component of small order. */
export function isInPrimeGroup(point: Group): boolean {
  return !point.is0() && point.isTorsionFree()
}

export function timesBase(scalar: Scalar): Group {
  return scalar % ORDER === 0n ? Point.ZERO : Point.BASE.multiply(scalar % ORDER)
}

/** Not constant-time: use only for public values, or where an attacker cannot measure the time. */
export function times(point: Group, scalar: Scalar): Group {
  return scalar % ORDER === 0n ? Point.ZERO : point.multiplyUnsafe(scalar % ORDER)
}

const P = Point.Fp.ORDER
/** Coefficient of the curve's Montgomery form (RFC 7748, curve25519). */
const A = 486_662n
const fp = Point.Fp

/**
 * A point with unknown discrete logarithm, derived from bytes: the Elligator map of their Keccak hash, times the cofactor
 * (Monero's `ge_fromfe_frombytes_vartime`; Nicolas van Saberhagen's hash to point, Shen Noether's MRL note).
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
  // The x of the Edwards form is u·√(2A(A+2)·w/x), or √(A(A+2)·w/x) if the first radicand is no square.
  const ratio = fp.div(w, x)
  const square = fp.mul(fp.mul(2n * A, A + 2n), ratio)
  const first = root(square)
  const second = first ?? root(fp.mul(fp.mul(A, A + 2n), ratio))
  if (second === null) throw new Error('the hash has no root in the Elligator map')
  const isFirst = first !== null
  const z = isFirst ? fp.mul(fp.neg(2n * A), fp.sqr(u)) : fp.neg(A)
  const magnitude = isFirst ? fp.mul(second, u) : second
  const sign = isFirst ? 0n : 1n
  const signed = (magnitude & 1n) === sign ? magnitude : fp.neg(magnitude)
  return Point.fromAffine({ x: signed, y: fp.div(fp.sub(z, w), fp.add(z, w)) }).clearCofactor()
}
