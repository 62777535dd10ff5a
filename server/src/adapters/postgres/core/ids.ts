const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SERIAL = /^\d{1,18}$/

/** Only as Postgres prints it: caches distinguish upper and lower case. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** For a comparison with a column of UUIDs, which an index can serve: other text is the id of no row. */
export const uuidOrNull = (text: string): string | null => (isUuid(text) ? text : null)

/** For a comparison with a numbered id: other text is the id of no row. */
export const serialOrNull = (text: string): string | null => (SERIAL.test(text) ? text : null)
