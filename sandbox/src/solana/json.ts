/** TypeScript's library for ES2024 lacks `JSON.rawJSON` of Node 24. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** The validator writes 64-bit numbers in full, also above 2^53. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? rawJSON(one.toString()) : one))
