import Type, { type Static, type TObject, type TUnsafe } from 'typebox'

/**
 * A plain decimal amount greater than zero: ASCII digits, no sign, no exponent, no leading zeros. Up to 40 integer
 * digits, so that a huge amount is rejected as too large and not as malformed, and up to 18 decimals. No look-ahead,
 * because not every OpenAPI tool supports it.
 */
export const AMOUNT_PATTERN = '^(?:[1-9][0-9]{0,39}(?:\\.[0-9]{1,18})?|0\\.0{0,17}[1-9][0-9]{0,17})$'
/** The longest text that the pattern accepts. */
export const AMOUNT_LENGTH_MAX = 59
/** An amount in a response; zero is allowed. */
export const ANY_AMOUNT_PATTERN = '^(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$'

type Notes = { description: string; examples?: readonly unknown[]; default?: unknown }

/** A string enum. */
export function wordOf<const Word extends string>(words: readonly Word[], notes: Notes): TUnsafe<Word> {
  return Type.Unsafe<Word>({ type: 'string', enum: words, ...notes })
}

/** Text or null. The serializer handles a type list without a union. */
export function textOrNull(notes: Notes): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...notes })
}

export function numberOrNull(notes: Notes): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ['number', 'null'], ...notes })
}

/** An object or null. Its members are inlined, because a nullable reference needs a union. */
export function objectOrNull<T extends TObject>(object: T, notes: Notes): TUnsafe<Static<T> | null> {
  const { properties, required } = object as TObject & { required?: readonly string[] }
  return Type.Unsafe<Static<T> | null>({ type: ['object', 'null'], properties, required, ...notes })
}

/** A string enum or null. */
export function wordOrNull<const Word extends string>(words: readonly Word[], notes: Notes): TUnsafe<Word | null> {
  return Type.Unsafe<Word | null>({ type: ['string', 'null'], enum: [...words, null], ...notes })
}

export function dateTime(notes: Notes) {
  return Type.String({ format: 'date-time', ...notes })
}

export function dateTimeOrNull(notes: Notes): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', ...notes })
}

/** A ticker in a request: any case, common aliases. The service checks that it exists. */
export function tickerInput(notes: Notes) {
  return Type.String({ minLength: 1, maxLength: 64, ...notes })
}

export function amountInput(notes: Notes) {
  return Type.String({ pattern: AMOUNT_PATTERN, maxLength: AMOUNT_LENGTH_MAX, ...notes })
}

/** As AMOUNT_PATTERN with up to 36 decimals, because tokens can have more than 18. */
export const TOKEN_AMOUNT_PATTERN = '^(?:[1-9][0-9]{0,39}(?:\\.[0-9]{1,36})?|0\\.0{0,35}[1-9][0-9]{0,35})$'
export const TOKEN_AMOUNT_LENGTH_MAX = 77

export function tokenAmountInput(notes: Notes) {
  return Type.String({ pattern: TOKEN_AMOUNT_PATTERN, maxLength: TOKEN_AMOUNT_LENGTH_MAX, ...notes })
}

/** A percentage as text. The service checks its bounds. */
export const PERCENT_PATTERN = '^(?:0|[1-9][0-9]{0,5})(?:\\.[0-9]{1,18})?$'

export function percentInput(notes: Notes) {
  return Type.String({ pattern: PERCENT_PATTERN, maxLength: 25, ...notes })
}

/** A percentage in a body: text or a JSON number. */
export function percentMember(notes: Notes): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({ type: ['string', 'number'], pattern: PERCENT_PATTERN, maxLength: 25, ...notes })
}

export function amountText(notes: Notes) {
  return Type.String({ pattern: ANY_AMOUNT_PATTERN, ...notes })
}

/** Addresses and memos: the length is limited before a chain's rules check them. */
export function boundedText(lengthMax: number, notes: Notes) {
  return Type.String({ maxLength: lengthMax, ...notes })
}
