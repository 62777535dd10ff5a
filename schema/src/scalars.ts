import Type, { type Static, type TObject, type TUnsafe } from 'typebox'

/**
 * A plain decimal amount greater than zero: ASCII digits, no sign, no exponent, no leading zeros. Up to 40 integer digits and
 * 36 decimals, so that a huge amount is rejected as too large, and one with more decimals than its currency or token has as too
 * precise, not as malformed. Only zeros may follow: trailing zeros are no precision. No look-ahead, because not every OpenAPI
 * tool supports it.
 */
const ABOVE_ZERO = '[1-9][0-9]{0,39}(?:\\.[0-9]{1,36}0*)?|0\\.0{0,35}[1-9][0-9]{0,35}0*'
export const AMOUNT_PATTERN = `^(?:${ABOVE_ZERO})$`
/** As AMOUNT_PATTERN, or zero: an approval moves no amount. */
export const AMOUNT_OR_ZERO_PATTERN = `^(?:${ABOVE_ZERO}|0(?:\\.0+)?)$`
/** 40 integer digits, the point, 36 decimals, and three zeros. Percentages have the same limit. */
export const AMOUNT_LENGTH_MAX = 80
/** An amount in a response; zero is allowed. */
export const ANY_AMOUNT_PATTERN = '^(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$'

type Annotations = { description: string; examples?: readonly unknown[]; default?: unknown }

/** A string enum. */
export function wordOf<const Value extends string>(values: readonly Value[], annotations: Annotations): TUnsafe<Value> {
  return Type.Unsafe<Value>({ type: 'string', enum: values, ...annotations })
}

/** Text or null. The serializer handles a type list without a union. */
export function textOrNull(annotations: Annotations): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...annotations })
}

export function numberOrNull(annotations: Annotations): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ['number', 'null'], ...annotations })
}

export function integerOrNull(annotations: Annotations): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...annotations })
}

/** An object or null. Its members are inlined, because a nullable reference needs a union. */
export function objectOrNull<T extends TObject>(object: T, annotations: Annotations): TUnsafe<Static<T> | null> {
  const { properties, required } = object as TObject & { required?: readonly string[] }
  return Type.Unsafe<Static<T> | null>({ type: ['object', 'null'], properties, required, ...annotations })
}

/** A string enum or null. */
export function wordOrNull<const Value extends string>(
  values: readonly Value[],
  annotations: Annotations,
): TUnsafe<Value | null> {
  return Type.Unsafe<Value | null>({ type: ['string', 'null'], enum: [...values, null], ...annotations })
}

export function dateTime(annotations: Annotations) {
  return Type.String({ format: 'date-time', ...annotations })
}

export function dateTimeOrNull(annotations: Annotations): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', ...annotations })
}

/** Marks a text that names one of the values, in any case or by an alias. The document publishes the values beside it. */
export const KNOWN_VALUES: unique symbol = Symbol('known values')

/** A ticker in a request whose usual values are known. */
export function knownTickerInput(values: readonly string[], annotations: Annotations) {
  return Object.assign(tickerInput(annotations), { [KNOWN_VALUES]: values })
}

/** A ticker in a request: any case, common aliases. The service checks that it exists. */
export function tickerInput(annotations: Annotations) {
  return Type.String({ minLength: 1, maxLength: 64, ...annotations })
}

export function amountInput(annotations: Annotations) {
  return Type.String({ pattern: AMOUNT_PATTERN, maxLength: AMOUNT_LENGTH_MAX, ...annotations })
}

/** Significant digits that every JSON number of a client keeps exactly (IEEE 754 double). */
export const NUMBER_DIGITS_MAX = 15

/** An amount in a body: text or a JSON number. The server converts a number to text before it validates. */
export function tokenAmountMember(annotations: Annotations): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: ['string', 'number'],
    pattern: AMOUNT_PATTERN,
    maxLength: AMOUNT_LENGTH_MAX,
    exclusiveMinimum: 0,
    ...annotations,
  })
}

/** As `tokenAmountMember`, or zero. */
export function tokenAmountOrZeroMember(annotations: Annotations): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: ['string', 'number'],
    pattern: AMOUNT_OR_ZERO_PATTERN,
    maxLength: AMOUNT_LENGTH_MAX,
    minimum: 0,
    ...annotations,
  })
}

/** A percentage as text. Trailing zeros are no precision. The service checks its bounds. */
export const PERCENT_PATTERN = '^(?:0|[1-9][0-9]{0,5})(?:\\.[0-9]{1,18}0*)?$'

export function percentInput(annotations: Annotations) {
  return Type.String({ pattern: PERCENT_PATTERN, maxLength: AMOUNT_LENGTH_MAX, ...annotations })
}

/** A percentage in a body: text or a JSON number. */
export function percentMember(annotations: Annotations): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({
    type: ['string', 'number'],
    pattern: PERCENT_PATTERN,
    maxLength: AMOUNT_LENGTH_MAX,
    ...annotations,
  })
}

export function amountText(annotations: Annotations) {
  return Type.String({ pattern: ANY_AMOUNT_PATTERN, ...annotations })
}

/** Addresses and memos: the length is limited before a chain's rules check them. */
export function boundedText(lengthMax: number, annotations: Annotations) {
  return Type.String({ maxLength: lengthMax, ...annotations })
}

/** Printable ASCII: the text is stored, filtered by, and shown in tables of others. */
export const EXTERNAL_ID_PATTERN = '^[ -~]{1,64}$'

/** The partner's own id of an exchange or a swap. */
export function externalIdInput(annotations: Annotations) {
  return Type.String({ pattern: EXTERNAL_ID_PATTERN, maxLength: 64, examples: ['order-4711'], ...annotations })
}

export const externalIdOrNull = textOrNull({
  description: 'Your own id, as it was sent; null without one. Additive.',
  examples: [null],
})

export const CHAIN_ID_PATTERN = '^[1-9][0-9]{0,15}$'

/** An EIP-155 chain id as text. */
export function chainIdInput(annotations: Annotations) {
  return Type.String({ pattern: CHAIN_ID_PATTERN, maxLength: 16, ...annotations })
}

export const trackingUrl = Type.String({
  description:
    'Page where the payer follows this exchange, without a key. Its address is a secret: show it to the payer only. Additive.',
  examples: ['https://api.example.com/track/AZjFonwee3qfDS9vHAqbfh8jB2x0qk4m1y9r8p3w5sE'],
})
