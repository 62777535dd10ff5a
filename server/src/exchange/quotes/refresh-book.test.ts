import { sandboxRoutes } from '@swapyard/schema'
import { describe, expect, it, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { emptyBook } from '../../core/domain/book.ts'
import { AppError } from '../../core/domain/errors.ts'
import { pricesAt } from '../../core/domain/price.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { btc, book as current, eth, NOW, usdt } from '../domain/pricing.fixture.ts'
import { type BookSnapshot, createBookSnapshot } from './book-snapshot.ts'
import { type RefreshBook, refreshBook, refreshBookOnce, SANDBOX_PRICES_MS } from './refresh-book.ts'

/** A chain whose payouts cost `gas` × the node's fee rate. `down`: the node fails. */
function makeChain(
  network: (typeof eth)['network'],
  gas: (asset: Asset) => bigint,
  node: { rate: bigint; down: boolean },
) {
  return {
    network,
    reader: {
      feeRate: async (): Promise<FeeRate> => {
        if (node.down) throw new AppError('NETWORK_UNAVAILABLE', 'down')
        return { rate: node.rate, tip: 0n }
      },
    },
    sender: { payoutFee: (asset: Asset, { rate }: FeeRate) => gas(asset) * rate },
  }
}

function start() {
  const books = createBookSnapshot(emptyBook(current.spreads))
  const time = { now: NOW }
  const nodes = { btc: { rate: 10n, down: false }, eth: { rate: 10n ** 9n, down: false } }
  const source = { down: false, usd: current.prices.usd }
  const reads: string[] = []
  const refresh: RefreshBook = {
    books,
    prices: {
      read: async () => {
        if (source.down) throw new AppError('RATES_UNAVAILABLE', 'down')
        return pricesAt(time.now, source.usd)
      },
    },
    chains: [
      makeChain(btc.network, () => 141n, nodes.btc),
      makeChain(eth.network, ({ contract }) => (contract === null ? 21_000n : 65_000n), nodes.eth),
    ],
    currencies: [btc, eth, usdt],
    readReserves: async () => ({ available: new Map([['btc@btc', 1n]]) }),
    readPauses: async () => ({ networks: new Set(['ltc']), assets: new Set() }),
    now: () => time.now,
    onRead: (part, { error }) => reads.push(`${part} ${error === null ? 'read' : 'failed'}`),
    paceMs: { prices: 1, reserves: 1, pauses: 1, fees: 1 },
  }
  return { books, time, nodes, source, reads, refresh }
}

const timeOf = (books: BookSnapshot) => books.current().prices.times.get('btc')

/** Runs the loops during the test and awaits their end. */
async function whileRunning(refresh: RefreshBook, test: () => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const ended = refreshBook(refresh, stop.signal)
  try {
    await test()
  } finally {
    stop.abort()
    await ended
  }
}

describe('refreshBookOnce', () => {
  it('reads the reserves again after the prices, which cap what quotes promise of them', async () => {
    const { books, refresh } = start()
    const capped = async () => ({
      available: new Map([['btc@btc', 1n]] as const),
      promised: new Map(books.current().prices.usd.has('btc') ? [['btc@btc', 1n] as const] : []),
    })
    const slowly = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return pricesAt(NOW, current.prices.usd)
    }
    const paceMs = { prices: 60_000, reserves: 60_000, pauses: 60_000, fees: 60_000 }
    await refreshBookOnce({ ...refresh, prices: { read: slowly }, readReserves: capped, paceMs })
    expect(books.current().reserves.promised).toEqual(new Map([['btc@btc', 1n]]))
  })

  it('reads every part', async () => {
    const { books, refresh } = start()
    await refreshBookOnce(refresh)
    const { prices, fees, reserves, pauses } = books.current()
    expect(prices).toEqual(pricesAt(NOW, current.prices.usd))
    expect(reserves).toEqual({ at: NOW, available: new Map([['btc@btc', 1n]]) })
    expect(pauses.networks).toEqual(new Set(['ltc']))
    expect(fees.get('btc')).toEqual({
      at: NOW,
      native: { assetId: 'btc@btc', priceKey: 'btc', decimals: 8 },
      payoutFeeUnits: new Map([['btc@btc', 1_410n]]),
      depositFeeUnits: new Map([['btc@btc', 0n]]),
    })
    expect(fees.get('eth')?.payoutFeeUnits).toEqual(
      new Map([
        ['eth@eth', 21_000n * 10n ** 9n],
        ['usdt@eth', 65_000n * 10n ** 9n],
      ]),
    )
  })

  it('resolves even if sources fail', async () => {
    const { books, refresh, nodes, source, reads } = start()
    source.down = true
    nodes.eth.down = true
    await refreshBookOnce(refresh)
    expect(reads).toEqual(expect.arrayContaining(['prices failed', 'fees:eth failed', 'fees:btc read']))
    expect(books.current().prices.usd).toEqual(new Map())
    expect([...books.current().fees.keys()]).toEqual(['btc'])
  })
})

describe('refreshBook', () => {
  it('follows its sources until the signal', async () => {
    const { books, refresh, nodes, time } = start()
    await whileRunning(refresh, async () => {
      await vi.waitFor(() => expect(books.current().fees.size).toBe(2), PATIENCE)
      nodes.btc.rate = 20n
      time.now += 5_000
      await vi.waitFor(
        () => expect(books.current().fees.get('btc')?.payoutFeeUnits.get('btc@btc')).toBe(2_820n),
        PATIENCE,
      )
      await vi.waitFor(() => expect(timeOf(books)).toBe(NOW + 5_000), PATIENCE)
    })
    const last = books.current()
    await new Promise((resolve) => setImmediate(resolve))
    expect(books.current()).toBe(last)
  })

  it('has a price as soon as one read has returned it', async () => {
    const { books, refresh, source, time } = start()
    const stop = new AbortController()
    const bids: (bigint | undefined)[] = []
    const onRead: RefreshBook['onRead'] = (part) => {
      if (part !== 'prices') return
      bids.push(books.current().prices.usd.get('btc')?.bid)
      source.usd = new Map([['btc', { bid: 7n, ask: 8n }]])
      time.now += 1
      if (bids.length === 2) stop.abort()
    }
    await refreshBook({ ...refresh, onRead }, stop.signal)
    expect(bids).toEqual([current.prices.usd.get('btc')?.bid, 7n])
  })

  it('reads the prices of the sandbox twice a second, as POST /sandbox/prices states, and the other parts at their own pace', async () => {
    expect(sandboxRoutes.setSandboxPrice.description).toContain('reads it twice a second')
    expect(SANDBOX_PRICES_MS).toBe(500)
    const { refresh } = start()
    const paceMs = { prices: SANDBOX_PRICES_MS, reserves: 60_000, pauses: 60_000, fees: 60_000 }
    const times: number[] = []
    const others: string[] = []
    const onRead: RefreshBook['onRead'] = (part) => {
      if (part === 'prices') times.push(performance.now())
      else others.push(part)
    }
    await whileRunning({ ...refresh, paceMs, onRead }, () =>
      vi.waitFor(() => expect(times.length).toBeGreaterThan(2), PATIENCE),
    )
    const [first = 0, , third = 0] = times
    // Two intervals: a timer may be a millisecond early, and a busy machine makes it late.
    expect(third - first).toBeGreaterThan(990)
    expect(others.toSorted()).toEqual(['fees:btc', 'fees:eth', 'pauses', 'reserves'])
  })

  it('keeps the part of a failing source with its old time', async () => {
    const { books, refresh, nodes, source, time, reads } = start()
    await whileRunning(refresh, async () => {
      await vi.waitFor(() => expect(books.current().fees.size).toBe(2), PATIENCE)
      source.down = true
      nodes.eth.down = true
      reads.length = 0
      await vi.waitFor(
        () => expect(reads).toEqual(expect.arrayContaining(['prices failed', 'fees:eth failed'])),
        PATIENCE,
      )
      time.now += 60_000
      await vi.waitFor(() => expect(books.current().fees.get('btc')?.at).toBe(NOW + 60_000), PATIENCE)
      expect(timeOf(books)).toBe(NOW)
      expect(books.current().fees.get('eth')?.at).toBe(NOW)
    })
  })

  it('never replaces a newer price by an older one', async () => {
    const { books, refresh, time, reads } = start()
    await whileRunning(refresh, async () => {
      await vi.waitFor(() => expect(timeOf(books)).toBe(NOW), PATIENCE)
      time.now -= 10_000
      reads.length = 0
      await vi.waitFor(() => expect(reads.filter((read) => read === 'prices read').length).toBeGreaterThan(1), PATIENCE)
      expect(timeOf(books)).toBe(NOW)
    })
  })
})
