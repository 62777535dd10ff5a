import { setTimeout as sleep } from 'node:timers/promises'
import { type AssetId, nativeId } from '../../core/domain/asset.ts'
import type { NetworkFees, Pauses, Reserves } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { Prices } from '../../core/ports/prices.ts'
import type { Chain, ChainReader, ChainSender } from '../ports/chain.ts'
import type { BookSnapshot } from './book-snapshot.ts'

/** `fees:btc` for each network. A bounded set: it may be a label. */
export type BookPart = 'prices' | 'reserves' | 'pauses' | `fees:${string}`

/** Of a chain, what a fee takes. */
export type FeeChain = Pick<Chain, 'network'> &
  Readonly<{ reader: Pick<ChainReader, 'feeRate'>; sender: Pick<ChainSender, 'payoutFee'> }>

export type RefreshBook = Readonly<{
  books: BookSnapshot
  prices: Prices
  chains: readonly FeeChain[]
  currencies: readonly Currency[]
  /** Units that can be paid out now by asset, less what is promised already; null = unbounded. From our own database. */
  readReserves(): Promise<ReadonlyMap<AssetId, bigint | null>>
  readPauses(): Promise<Pauses>
  /** Milliseconds since 1970. */
  now(): number
  /** Called after every read: for metrics and logs. */
  onRead(part: BookPart, outcome: Readonly<{ ms: number; error: unknown }>): void
  /** Pace of each part; fees move slowly and each costs a call to a node. */
  paceMs?: Partial<Record<'prices' | 'reserves' | 'pauses' | 'fees', number>>
}>

const PACE_MS = { prices: 1_000, reserves: 1_000, pauses: 1_000, fees: 10_000 } as const
const BACKOFF_MAX_MS = 10_000

/**
 * Keeps the book of this process current until the signal: each source at its own pace, so that a slow node holds
 * nothing up. A source that fails leaves its part as it was, with its old time: quotes stop by themselves when it is
 * too old. Ends when every loop has ended.
 */
export async function refreshBook(refresh: RefreshBook, signal: AbortSignal): Promise<void> {
  const pace = { ...PACE_MS, ...refresh.paceMs }
  const { books, now } = refresh
  const loops = [
    repeat(refresh, 'prices', pace.prices, signal, async () => {
      const prices = await refresh.prices.read()
      // Two reads may overlap in a source: the younger snapshot stays.
      if (prices.at >= books.current().prices.at) books.replace({ prices })
    }),
    repeat(refresh, 'reserves', pace.reserves, signal, async () => {
      const at = now()
      const available = await refresh.readReserves()
      books.replace({ reserves: { at, available } satisfies Reserves })
    }),
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

/** Reads every part once, and resolves when each was read or failed: what a start waits for before it is ready. */
export async function refreshBookOnce(refresh: RefreshBook): Promise<void> {
  const stop = new AbortController()
  const expected = 3 + refresh.chains.length
  const seen = new Set<BookPart>()
  await refreshBook(
    {
      ...refresh,
      onRead: (part, outcome) => {
        refresh.onRead(part, outcome)
        seen.add(part)
        if (seen.size === expected) stop.abort()
      },
    },
    stop.signal,
  )
}

/** What one payout of each currency of a network costs at the network's fee rate now. */
async function readFees(chain: FeeChain, currencies: readonly Currency[], at: number): Promise<NetworkFees> {
  const { network, reader, sender } = chain
  const rate = await reader.feeRate()
  const listed = currencies.filter((currency) => currency.network.id === network.id)
  const coin = listed.find(({ asset }) => asset.contract === null)
  const payoutFeeUnits = new Map(listed.map(({ asset }) => [asset.id, sender.payoutFee(asset, rate)] as const))
  const native = {
    assetId: coin?.asset.id ?? nativeId(network),
    priceKey: coin?.definition.priceKey ?? network.symbol.toLowerCase(),
    decimals: network.decimals,
  }
  return { at, native, payoutFeeUnits }
}

/** Runs one read at its pace until the signal. After failures the pauses grow, up to `BACKOFF_MAX_MS`. */
async function repeat(
  { now, onRead }: RefreshBook,
  part: BookPart,
  paceMs: number,
  signal: AbortSignal,
  read: () => Promise<void>,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const startedAt = now()
    let error: unknown = null
    try {
      await read()
      failures = 0
    } catch (cause) {
      error = cause
      failures += 1
    }
    onRead(part, { ms: now() - startedAt, error })
    const waitMs = failures === 0 ? paceMs : Math.min(500 * 2 ** (failures - 1), BACKOFF_MAX_MS)
    // An abort ends the wait, and the loop.
    await sleep(waitMs, undefined, { signal }).catch(() => {})
  }
}
