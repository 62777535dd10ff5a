import Type, { type Static, type TObject, type TUnsafe } from 'typebox'

/**
 * A plain decimal amount greater than zero: ASCII digits, no sign, no exponent, no leading zeros. Up to 40 digits
 * before the point, so that an absurd amount is refused as too large rather than as malformed, and 18 behind it. Free
 * of look-ahead, so that every OpenAPI tool can read it.
 */
export const AMOUNT_PATTERN = '^(?:[1-9][0-9]{0,39}(?:\\.[0-9]{1,18})?|0\\.0{0,17}[1-9][0-9]{0,17})$'
/** The longest text that the pattern accepts. */
export const AMOUNT_LENGTH_MAX = 59
/** Any amount that we answer with: zero is allowed. */
export const ANY_AMOUNT_PATTERN = '^(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$'

type Notes = { description: string; examples?: readonly unknown[]; default?: unknown }

/** One of a closed set of words. */
export function wordOf<const Word extends string>(words: readonly Word[], notes: Notes): TUnsafe<Word> {
  return Type.Unsafe<Word>({ type: 'string', enum: words, ...notes })
}

/** Text, or null where it is known that there is none. Written as a type list, which serialises without a union. */
export function textOrNull(notes: Notes): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...notes })
}

export function numberOrNull(notes: Notes): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ['number', 'null'], ...notes })
}

/** An object, or null. Its members stand here: a reference could not be null without a union. */
export function objectOrNull<T extends TObject>(object: T, notes: Notes): TUnsafe<Static<T> | null> {
  const { properties, required } = object as TObject & { required?: readonly string[] }
  return Type.Unsafe<Static<T> | null>({ type: ['object', 'null'], properties, required, ...notes })
}

/** One of a closed set of words, or null. */
export function wordOrNull<const Word extends string>(words: readonly Word[], notes: Notes): TUnsafe<Word | null> {
  return Type.Unsafe<Word | null>({ type: ['string', 'null'], enum: [...words, null], ...notes })
}

export function dateTime(notes: Notes) {
  return Type.String({ format: 'date-time', ...notes })
}

export function dateTimeOrNull(notes: Notes): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', ...notes })
}

/** A ticker as sent by a partner: any case, common aliases. Whether it exists is the service's to say. */
export function tickerInput(notes: Notes) {
  return Type.String({ minLength: 1, maxLength: 64, ...notes })
}

export function amountInput(notes: Notes) {
  return Type.String({ pattern: AMOUNT_PATTERN, maxLength: AMOUNT_LENGTH_MAX, ...notes })
}

/** The same with up to 36 digits behind the point: tokens may have more decimals than coins. */
export const TOKEN_AMOUNT_PATTERN = '^(?:[1-9][0-9]{0,39}(?:\\.[0-9]{1,36})?|0\\.0{0,35}[1-9][0-9]{0,35})$'
export const TOKEN_AMOUNT_LENGTH_MAX = 77

export function tokenAmountInput(notes: Notes) {
  return Type.String({ pattern: TOKEN_AMOUNT_PATTERN, maxLength: TOKEN_AMOUNT_LENGTH_MAX, ...notes })
}

/** A percentage as text. Whether it lies within its bounds is the service's to say. */
export const PERCENT_PATTERN = '^(?:0|[1-9][0-9]{0,5})(?:\\.[0-9]{1,18})?$'

export function percentInput(notes: Notes) {
  return Type.String({ pattern: PERCENT_PATTERN, maxLength: 25, ...notes })
}

/** In a body: text, or a plain JSON number, which is how many write a percentage. */
export function percentMember(notes: Notes): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({ type: ['string', 'number'], pattern: PERCENT_PATTERN, maxLength: 25, ...notes })
}

export function amountText(notes: Notes) {
  return Type.String({ pattern: ANY_AMOUNT_PATTERN, ...notes })
}

/** Addresses, memos: bounded before any rule of a chain looks at them. */
export function boundedText(lengthMax: number, notes: Notes) {
  return Type.String({ maxLength: lengthMax, ...notes })
}
