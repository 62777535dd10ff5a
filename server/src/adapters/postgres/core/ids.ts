import { isUuid } from '../../../lib/id.ts'

const SERIAL = /^\d{1,18}$/

/** For a comparison with a column of UUIDs, which an index can serve: other text is the id of no row. */
export const uuidOrNull = (text: string): string | null => (isUuid(text) ? text : null)

/** For a comparison with a numbered id: other text is the id of no row. */
export const serialOrNull = (text: string): string | null => (SERIAL.test(text) ? text : null)
