import { NUMBER_DIGITS_MAX } from '@swapyard/schema'

/** Names of the members whose numbers were rounded, by body. */
const rounded = new WeakMap<object, ReadonlySet<string>>()

/** What may be such a number: many digits, or a large exponent. Most bodies have none, so that they are read once. */
const SUSPECT = new RegExp(`:\\s*-?(?:[\\d.]{${NUMBER_DIGITS_MAX + 1}}|[\\d.]+[eE][+-]?\\d{3})`)
/** Strings, numbers and brackets. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]|-?\d[\d.eE+-]*/g

/**
 * Finds the members of a body whose numbers differ from their text. The reviver of `JSON.parse` knows the text of a number, too, but
 * takes far longer and overflows the stack on nested arrays. `body`: what was parsed from the text.
 */
export function noteRoundedNumbers(text: string, body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !SUSPECT.test(text)) return
  const names = new Set<string>()
  let depth = 0
  let key = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth !== 1) continue
    else if (token.startsWith('"')) key = token
    // The last member of a name counts.
    else if (isRounded(token)) names.add(JSON.parse(key))
    else if (names.size > 0) names.delete(JSON.parse(key))
  }
  if (names.size > 0) rounded.set(body, names)
}

/** Whether this member of a parsed body is a number that was rounded. */
export const isRoundedMember = (body: object, name: string): boolean => rounded.get(body)?.has(name) ?? false

/** A double keeps 15 significant digits. Zeros in front and at the end are none. */
function isRounded(text: string): boolean {
  const value: number = JSON.parse(text)
  const [mantissa = ''] = text.split(/e/i, 1)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  // Not by an expression, which begins again at each zero.
  let count = digits.length
  while (digits[count - 1] === '0') count--
  return count > NUMBER_DIGITS_MAX || (count > 0 && value === 0) || !Number.isFinite(value)
}
