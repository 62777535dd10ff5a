import { randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Only as Postgres prints it: caches distinguish upper and lower case. */
export const isUuid = (text: string): boolean => UUID.test(text)

/**
 * UUID version 7 (RFC 9562): ordered by time, so that indexes grow at their end, with 74 random bits, which cannot be guessed.
 * The bits come from a version 4 UUID, which Node generates in bulk: a call per id would take ten times as long.
 */
export function timeOrderedId(now: number = Date.now()): string {
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
