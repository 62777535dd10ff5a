const AMOUNT = /^(0|[1-9]\d*)(?:\.(\d+))?$/
/** Above the decimals of every token: contracts state them in one byte. */
const DECIMALS_MAX = 255
/** Significant digits that a JSON number keeps exactly. */
const NUMBER_DIGITS_MAX = 15

/** `'1.5'` with 6 decimals → `1500000n`. Never rounds: more decimals than the currency has are an error. */
export function amountToUnits(amount: string, decimals: number): bigint {
  checkDecimals(decimals)
  const { whole, fraction } = parseAmount(amount)
  if (fraction.length > decimals)
    throw new RangeError(`the amount ${amount} has ${fraction.length} decimals, at most ${decimals} are possible`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** `1500000n` with 6 decimals → `'1.5'`. */
export function unitsToAmount(units: bigint, decimals: number): string {
  checkDecimals(decimals)
  if (units < 0n) throw new RangeError('an amount is not negative')
  const digits = units.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return digits.slice(0, digits.length - decimals) + (decimals > 0 && fraction !== '' ? `.${fraction}` : '')
}

/** The exact text of an amount that the API gives as a JSON number: `1e-7` → `'0.0000001'`. */
export function numberToAmount(value: number): string {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  if (!Number.isFinite(value) || value < 0 || digits.replace(/0+$/, '').length > NUMBER_DIGITS_MAX)
    throw new RangeError(`${value} is not an exact amount`)
  const decimals = fraction.length - Number.parseInt(exponent, 10)
  return decimals < 0
    ? BigInt(digits + '0'.repeat(-decimals)).toString()
    : unitsToAmount(BigInt(digits || '0'), decimals)
}

/** Negative if `a` is less than `b`, 0 if they are equal: `'1.0'` equals `'1'`. */
export function compareAmounts(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = toCommonUnits(a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

export function addAmounts(a: string, b: string): string {
  const [left, right, decimals] = toCommonUnits(a, b)
  return unitsToAmount(left + right, decimals)
}

/** `a` less `b`, which may not be more than `a`. */
export function subtractAmounts(a: string, b: string): string {
  const [left, right, decimals] = toCommonUnits(a, b)
  return unitsToAmount(left - right, decimals)
}

function toCommonUnits(a: string, b: string): [bigint, bigint, number] {
  const decimals = Math.max(parseAmount(a).fraction.length, parseAmount(b).fraction.length)
  return [amountToUnits(a, decimals), amountToUnits(b, decimals), decimals]
}

/** Trailing zeros do not count as decimals. */
function parseAmount(amount: string): { whole: string; fraction: string } {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined) throw new RangeError(`${JSON.stringify(amount)} is not a plain decimal amount such as 0.01`)
  return { whole, fraction: fraction.replace(/0+$/, '') }
}

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX)
    throw new RangeError(`${decimals} is not a number of decimals`)
}
