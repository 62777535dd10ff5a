import { setTimeout as sleep } from 'node:timers/promises'
import { nativeId } from '../../core/domain/asset.ts'
import type { NetworkFees, Pauses, Reserves } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { newerPrices } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'
import type { Chain, ChainReader, ChainSender } from '../ports/chain.ts'
import type { BookSnapshot } from './book-snapshot.ts'

/** `fees:btc` for each network. A bounded set, so it can be a metric label. */
export type BookPart = 'prices' | 'reserves' | 'pauses' | `fees:${string}`

/** The part of a chain that fee estimates need. */
export type FeeChain = Pick<Chain, 'network'> &
  Readonly<{ reader: Pick<ChainReader, 'feeRate'>; sender: Pick<ChainSender, 'payoutFee' | 'depositFee'> }>

export type RefreshBook = Readonly<{
  books: BookSnapshot
  prices: Prices
  chains: readonly FeeChain[]
  currencies: readonly Currency[]
  /** Units that can be paid out now, by asset, less reserved amounts, and what fixed rates hold. From our own database. */
  readReserves(): Promise<Omit<Reserves, 'at'>>
  readPauses(): Promise<Pauses>
  /** Milliseconds since 1970. */
  now(): number
  /** Called after every read: for metrics and logs. */
  onRead(part: BookPart, outcome: Readonly<{ ms: number; error: unknown }>): void
  /** Interval of each part. Fees change slowly, and each read costs a node call. */
  paceMs?: Partial<Record<'prices' | 'reserves' | 'pauses' | 'fees', number>>
}>

const PACE_MS = { prices: 1_000, reserves: 1_000, pauses: 1_000, fees: 10_000 } as const
/** A price that the sandbox's controls set is in quotes after one read. `POST /sandbox/prices` states this interval. */
export const SANDBOX_PRICES_MS = 500
const BACKOFF_MAX_MS = 10_000

/**
 * Refreshes the book of this process until the signal. Each source has its own loop, so that a slow node delays no other.
 * A failed read leaves its part unchanged with its old time, and quotes stop when that is too old. Resolves when every
 * loop has ended.
 */
export async function refreshBook(refresh: RefreshBook, signal: AbortSignal): Promise<void> {
  const pace = { ...PACE_MS, ...refresh.paceMs }
  const { books, now } = refresh
  const loops = [
    repeat(refresh, 'prices', pace.prices, signal, async () => {
      const prices = await refresh.prices.read()
      books.replace({ prices: newerPrices(books.current().prices, prices) })
    }),
    repeat(refresh, 'reserves', pace.reserves, signal, () => replaceReserves(refresh)),
    repeat(refresh, 'pauses', pace.pauses, signal, async () => {
      books.replace({ pauses: await refresh.readPauses() })
    }),
    ...refresh.chains.map((chain) =>
      repeat(refresh, `fees:${chain.network.id}`, pace.fees, signal, async () => {
        const fees = await readFees(chain, refresh.currencies, now())
        books.replace({ fees: new Map(books.current().fees).set(chain.network.id, fees) })
      }),
    ),
  ]
  await Promise.all(loops)
}

async function replaceReserves({ books, readReserves, now }: RefreshBook): Promise<void> {
  const at = now()
  const reserves = await readReserves()
  books.replace({ reserves: { at, ...reserves } satisfies Reserves })
}

/**
 * Reads every part once, and the reserves again after the prices: limits in dollars cap what quotes promise of them. Resolves when
 * each read has succeeded or failed. A start awaits this before it is ready.
 */
export async function refreshBookOnce(refresh: RefreshBook): Promise<void> {
  const stop = new AbortController()
  const expected = 3 + refresh.chains.length
  const finished = new Set<BookPart>()
  await refreshBook(
    {
      ...refresh,
      onRead: (part, outcome) => {
        refresh.onRead(part, outcome)
        finished.add(part)
        if (finished.size === expected) stop.abort()
      },
    },
    stop.signal,
  )
  await readPart(refresh, 'reserves', () => replaceReserves(refresh))
}

/** Costs of a payout and of a deposit of each currency of a network at its current fee rate. */
async function readFees(chain: FeeChain, currencies: readonly Currency[], at: number): Promise<NetworkFees> {
  const { network, reader, sender } = chain
  const rate = await reader.feeRate()
  const ofNetwork = currencies.filter((currency) => currency.network.id === network.id)
  const nativeCurrency = ofNetwork.find(({ asset }) => asset.contract === null)
  const payoutFeeUnits = new Map(ofNetwork.map(({ asset }) => [asset.id, sender.payoutFee(asset, rate)] as const))
  const depositFeeUnits = new Map(
    ofNetwork.map(({ asset }) => [asset.id, sender.depositFee?.(asset, rate) ?? 0n] as const),
  )
  const native = {
    assetId: nativeCurrency?.asset.id ?? nativeId(network),
    priceKey: nativeCurrency?.definition.priceKey ?? network.symbol.toLowerCase(),
    decimals: network.decimals,
  }
  return { at, native, payoutFeeUnits, depositFeeUnits }
}

/** Reads and reports one part. Whether the read has succeeded. */
async function readPart(
  { now, onRead }: Pick<RefreshBook, 'now' | 'onRead'>,
  part: BookPart,
  read: () => Promise<void>,
): Promise<boolean> {
  const startedAt = now()
  let error: unknown = null
  await read().catch((cause: unknown) => {
    error = cause
  })
  onRead(part, { ms: now() - startedAt, error })
  return error === null
}

/** Repeats one read until the signal. After failures the wait doubles, up to `BACKOFF_MAX_MS`. */
async function repeat(
  refresh: RefreshBook,
  part: BookPart,
  paceMs: number,
  signal: AbortSignal,
  read: () => Promise<void>,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    failures = (await readPart(refresh, part, read)) ? 0 : failures + 1
    const waitMs = failures === 0 ? paceMs : Math.min(500 * 2 ** (failures - 1), BACKOFF_MAX_MS)
    // The signal ends the wait and then the loop.
    await sleep(waitMs, undefined, { signal }).catch(() => {})
  }
}
