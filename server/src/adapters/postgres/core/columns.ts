/** Column values as domain values: `numeric` and `bigint` arrive as text, and no memo as an empty text. */
export const unitsOrNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text))
export const memoOrNull = (text: string): string | null => (text === '' ? null : text)
