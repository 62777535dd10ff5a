import { AppError } from '../../core/domain/errors.ts'
import type { Price } from '../../core/domain/price.ts'
import type { PriceSource, SourcePrice } from './price-source.ts'

export type DropReason =
  | 'failed'
  | 'missing'
  | 'stale'
  | 'future'
  | 'implausible'
  | 'unconverted'
  | 'deviating'
  | 'jump'

/** `priceKey` is null if the whole source was dropped; `cause` is the error then. */
export type Dropped = Readonly<{ source: string; reason: DropReason; priceKey: string | null; cause?: unknown }>

/** A price that counts, with the id of its source. */
export type Vote = SourcePrice & Readonly<{ source: string }>

type Options = Readonly<{
  sources: readonly PriceSource[]
  now(): number
  maxAgeMs: number
  timeoutMs: number
  spreadBps: bigint
  onDropped(dropped: Dropped): void
}>

/** A price further in the future has a wrong unit or clock, and would never become stale. */
const FUTURE_MAX_MS = 2_000
const BPS = 10_000n

/** The usable prices of all sources, one per key and source. */
export async function collectPrices(options: Options): Promise<readonly Vote[]> {
  const { sources, timeoutMs, maxAgeMs: ageMaxMs, onDropped } = options
  const answers = await Promise.allSettled(sources.map((source) => within(timeoutMs, source.read())))
  return answers.flatMap((answer, index) => {
    const { id: source = '', maxAgeMs = ageMaxMs, priceKeys = [] } = sources[index] ?? {}
    if (answer.status !== 'fulfilled') {
      onDropped({ source, reason: 'failed', priceKey: null, cause: answer.reason })
      return []
    }
    const unique = new Map(answer.value.map((stated) => [stated.priceKey, stated]))
    for (const priceKey of priceKeys) if (!unique.has(priceKey)) onDropped({ source, reason: 'missing', priceKey })
    return [...unique.values()].flatMap((stated) => {
      const reason = findFault(stated, maxAgeMs, options)
      if (reason !== null) onDropped({ source, reason, priceKey: stated.priceKey })
      return reason === null ? [{ ...stated, source }] : []
    })
  })
}

function findFault(
  { at, price }: SourcePrice,
  maxAgeMs: number,
  { now, spreadBps }: Pick<Options, 'now' | 'spreadBps'>,
): DropReason | null {
  if (now() - at > maxAgeMs) return 'stale'
  if (at - now() > FUTURE_MAX_MS) return 'future'
  return isPlausible(price, spreadBps) ? null : 'implausible'
}

/** Prices come from outside, so the types are checked too: only positive bigints are prices. */
export function isPlausible({ bid, ask }: Price, spreadBps: bigint): boolean {
  if (typeof bid !== 'bigint' || typeof ask !== 'bigint' || bid <= 0n || ask < bid) return false
  return (ask - bid) * BPS <= bid * spreadBps
}

async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('RATES_UNAVAILABLE', 'a price source did not answer')), timeoutMs)
  })
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
