/*
 * Balancer's LogExpMath (MIT; Martinelli, Yuhjtman, Fernandez), bit for bit: logarithm and exponential with 18 decimals by factoring out
 * powers of e, internally with 20 or 36 decimals. BigInt division truncates toward zero, like Solidity's.
 */
const ONE_18 = 10n ** 18n
const ONE_20 = 10n ** 20n
const ONE_36 = 10n ** 36n
const EXPONENT_MAX = 130n * ONE_18
const EXPONENT_MIN = -41n * ONE_18
/** Between these bounds the logarithm is computed with 36 decimals. */
const NEAR_ONE_MIN = 9n * 10n ** 17n
const NEAR_ONE_MAX = 11n * 10n ** 17n

/** 128 and 64 with 18 decimals, and their exponentials without decimals. */
const LARGE = [
  [128n * ONE_18, 38877084059945950922200000000000000000000000000000000000n],
  [64n * ONE_18, 6235149080811616882910000000n],
] as const

/** 2^5 … 2^-4 and their exponentials, both with 20 decimals. */
const SMALL = [
  [32n * ONE_20, 7896296018268069516100000000000000n],
  [16n * ONE_20, 888611052050787263676000000n],
  [8n * ONE_20, 298095798704172827474000n],
  [4n * ONE_20, 5459815003314423907810n],
  [2n * ONE_20, 738905609893065022723n],
  [ONE_20, 271828182845904523536n],
  [ONE_20 / 2n, 164872127070012814685n],
  [ONE_20 / 4n, 128402541668774148407n],
  [ONE_20 / 8n, 113314845306682631683n],
  [ONE_20 / 16n, 106449445891785942956n],
] as const
/** The exponential covers the last two by its series. */
const SMALL_OF_EXPONENTIAL = SMALL.slice(0, 8)

/** x^y, all with 18 decimals. Null if the contract reverts. */
export function power(x: bigint, y: bigint): bigint | null {
  if (y === 0n) return ONE_18
  if (x === 0n) return 0n
  if (x >> 255n !== 0n || y >= 2n ** 254n / ONE_20) return null
  const exponent = logarithmTimes(x, y) / ONE_18
  if (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX) return null
  return exponential(exponent)
}

function logarithmTimes(x: bigint, y: bigint): bigint {
  if (x <= NEAR_ONE_MIN || x >= NEAR_ONE_MAX) return logarithm(x) * y
  const precise = logarithmNearOne(x)
  return (precise / ONE_18) * y + ((precise % ONE_18) * y) / ONE_18
}

function exponential(exponent: bigint): bigint {
  if (exponent < 0n) return (ONE_18 * ONE_18) / exponential(-exponent)
  let rest = exponent
  let first = 1n
  const large = LARGE.find(([size]) => rest >= size)
  if (large) {
    rest -= large[0]
    first = large[1]
  }
  rest *= 100n
  let product = ONE_20
  for (const [size, e] of SMALL_OF_EXPONENTIAL) {
    if (rest < size) continue
    rest -= size
    product = (product * e) / ONE_20
  }
  let term = rest
  let sum = ONE_20 + term
  for (let n = 2n; n <= 12n; n++) {
    term = (term * rest) / ONE_20 / n
    sum += term
  }
  return (((product * sum) / ONE_20) * first) / 100n
}

function logarithm(value: bigint): bigint {
  if (value < ONE_18) return -logarithm((ONE_18 * ONE_18) / value)
  let rest = value
  let sum = 0n
  for (const [size, e] of LARGE) {
    if (rest < e * ONE_18) continue
    rest /= e
    sum += size
  }
  rest *= 100n
  sum *= 100n
  for (const [size, e] of SMALL) {
    if (rest < e) continue
    rest = (rest * ONE_20) / e
    sum += size
  }
  return (sum + areaSeries(rest, ONE_20, 11n)) / 100n
}

const logarithmNearOne = (value: bigint): bigint => areaSeries(value * ONE_18, ONE_36, 15n)

/** ln a = 2·(z + z³÷3 + z⁵÷5 + …) with z = (a − 1) ÷ (a + 1), up to the power `last`. */
function areaSeries(value: bigint, one: bigint, last: bigint): bigint {
  const z = ((value - one) * one) / (value + one)
  const square = (z * z) / one
  let term = z
  let sum = z
  for (let n = 3n; n <= last; n += 2n) {
    term = (term * square) / one
    sum += term / n
  }
  return sum * 2n
}
