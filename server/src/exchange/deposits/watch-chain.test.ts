import { expect, test } from 'vitest'
import { createLog } from '../../lib/log.ts'
import { bookParts, eth, makeBook } from '../domain/pricing.fixture.ts'
import type { Chain } from '../ports/chain.ts'
import { createBookSnapshot } from '../quotes/book-snapshot.ts'
import { guardDefaults } from '../settings.ts'
import { createRecordBlocks, type RecordBlocksDeps } from './record-blocks.ts'
import { pollPauseMs, watchChain } from './watch-chain.ts'

const TURNS = 100
const BLOCKS_PER_TURN = 200
const HEIGHT = TURNS * BLOCKS_PER_TURN
/** The watcher polls every ten seconds: if it paused between turns, the test would take a quarter of an hour. */
const network = { ...eth.network, blockTimeMs: 60_000 }

const refOf = (height: number) => ({ height, hash: `hash ${height}`, parentHash: `hash ${height - 1}` })

/** A chain, and how often each of its calls was made. */
function createCountedChain(height: () => number) {
  const calls = { head: 0, block: 0, mempool: 0 }
  const count = <T>(name: keyof typeof calls, answer: T): Promise<T> => {
    calls[name]++
    return Promise.resolve(answer)
  }
  const reader = {
    head: () => count('head', refOf(height())),
    block: (height: number) => count('block', { ...refOf(height), time: height, transfers: [], transactions: [] }),
    mempool: () => count('mempool', []),
  }
  return { chain: { network, reader } as unknown as Chain, calls }
}

/** Keeps the heights that were appended, and how often the cursor was read. */
function createMemoryStore() {
  const appended: number[] = []
  const reads = { cursor: 0 }
  const chainLog = {
    async cursor() {
      reads.cursor++
      return refOf(appended.at(-1) ?? 0)
    },
    append: async (_network: string, { height }: { height: number }) => appended.push(height) > 0,
    recordSightings: async () => undefined,
    listSightingsToInspect: async () => [],
    recordCaughtUp: async () => undefined,
  }
  const store = {
    chainLog,
    alarms: { clear: async () => undefined },
    transaction: async (work: (tx: unknown) => unknown) => work({ chainLog }),
  }
  return { appended, reads, store: store as unknown as RecordBlocksDeps['store'] }
}

const recordBlocksIn = (store: RecordBlocksDeps['store']) =>
  createRecordBlocks({
    store,
    assetOf: () => null,
    assetById: () => eth.asset,
    priceKeyOf: () => 'eth',
    books: createBookSnapshot(makeBook(bookParts)),
    settings: { fundingsAreCapital: true, guards: guardDefaults },
    log: createLog({ level: 'silent', pretty: false }),
  })

test('T56: reads blocks up to the head without a pause: one call for each, and two for a turn of 200', async () => {
  const { chain, calls } = createCountedChain(() => HEIGHT)
  const { appended, store } = createMemoryStore()
  const recordBlocks = recordBlocksIn(store)
  const lags: number[] = []
  const caughtUp = Promise.withResolvers<void>()
  const watcher = watchChain({
    chain,
    recordBlocks,
    countFundings: async () => undefined,
    rescanBlocks: async () => false,
    onProgress(_network, { behind }) {
      lags.push(behind)
      if (behind === 0) caughtUp.resolve()
    },
    onError: (_network, error) => caughtUp.reject(error),
  })
  await caughtUp.promise
  await watcher.stop()
  expect(lags.slice(0, 2)).toEqual([HEIGHT - BLOCKS_PER_TURN, HEIGHT - 2 * BLOCKS_PER_TURN])
  expect(appended).toEqual(Array.from({ length: HEIGHT }, (_, n) => n + 1))
  expect(calls).toEqual({ head: TURNS, block: HEIGHT, mempool: TURNS })
})

test('reads the cursor again only for a new head', async () => {
  let height = 3
  const { chain, calls } = createCountedChain(() => height)
  const { appended, reads, store } = createMemoryStore()
  const recordBlocks = recordBlocksIn(store)
  for (let n = 0; n < 3; n++) expect(await recordBlocks(chain)).toEqual({ height: 3, behind: 0 })
  expect(reads.cursor).toBe(1)
  height = 4
  expect(await recordBlocks(chain)).toEqual({ height: 4, behind: 0 })
  expect(reads.cursor).toBe(2)
  expect(appended).toEqual([1, 2, 3, 4])
  expect(calls.mempool).toBe(4)
})

test('polls four times per block time, and once while the next block is overdue', () => {
  const SECOND_MS = 1_000
  expect(pollPauseMs(SECOND_MS, 0)).toBe(250)
  expect(pollPauseMs(SECOND_MS, 5 * SECOND_MS)).toBe(250)
  expect(pollPauseMs(SECOND_MS, 5 * SECOND_MS + 1)).toBe(SECOND_MS)
  expect(pollPauseMs(12 * SECOND_MS, 0)).toBe(3 * SECOND_MS)
  // Bitcoin's ten minutes and Sui's quarter of a second.
  expect([0, 3_001 * SECOND_MS].map((since) => pollPauseMs(600 * SECOND_MS, since))).toEqual([10_000, 10_000])
  expect([0, 1_251].map((since) => pollPauseMs(250, since))).toEqual([200, 250])
})
