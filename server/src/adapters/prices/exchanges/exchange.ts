import type { QuoteCurrency } from '../price-source.ts'

/** The best bid and ask of one pair as decimal text, unchecked. `at`: the pair's own time in ms; null if it has none. */
export type Book = Readonly<{ bid: unknown; ask: unknown; at: number | null }>

/** A public exchange whose one request, without a key, returns the best bid and ask of every pair. */
export type Exchange = Readonly<{
  url: string
  /** What every pair of `symbols` is quoted in. */
  quoteCurrency: QuoteCurrency
  /** Shortest time between two requests of this process. */
  intervalMs: number
  /** A longer reply is refused. Several times the size of today's. */
  replyBytesMax: number
  /** The exchange's symbol by our price key. */
  symbols: Readonly<Record<string, string>>
  /** The books of a reply with status 200, by symbol. Throws `Refusal` if the reply is an error or has another form. */
  readBooks(body: string): ReadonlyMap<string, Book>
}>

/** The exchange did not return its books. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Time to wait before the next request; null if the exchange did not limit us. */
  readonly waitMs: number | null

  constructor(message: string, waitMs: number | null = null) {
    super(message)
    this.waitMs = waitMs
  }
}

/** Several exchanges block an address for a minute if it asks too often. */
export const LIMIT_WAIT_MS = 60_000

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refusal('the reply has another form than documented')
  return value
}

/** Unix time as text or a number; null if it is malformed. */
export function readTime(value: unknown, unit: 's' | 'ms'): number | null {
  const text = String(value)
  if (!/^[1-9][0-9]{8,13}$/.test(text)) return null
  return Number.parseInt(text, 10) * (unit === 's' ? 1_000 : 1)
}

/** Text from outside, for a log: short and without control characters. */
export const excerpt = (text: string): string => text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 120)
