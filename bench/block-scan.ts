import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { createStore } from '../server/src/adapters/postgres/exchange/store.ts'
import type { ScannedBlock } from '../server/src/exchange/ports/chain.ts'
import type { AppendRules } from '../server/src/exchange/ports/store/chain-log.ts'
import { filledAddress, NETWORK } from './fill.ts'
import { median } from './load.ts'

const TRANSACTIONS = 1_000
const TRANSFERS = 2_500
/** Transfers of a block that reach an address of ours. */
const OURS = 5
const WARM_UP = 5
/** Above the filled deposits. */
const HEIGHT = 1_000_000
const BLOCKS = 60

const rules: AppendRules = {
  assetOf: () => ({ id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null }),
  requirements: () => ({ confirmations: 12, tag: null }),
  usesMemos: false,
  fundingConfirmations: 12,
  keepBlocks: 1_000,
  tracksUtxos: false,
}

const hashed = (text: string, length: number) => `0x${createHash('sha256').update(text).digest('hex').slice(0, length)}`

function blockOf(height: number, watched: number): ScannedBlock {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, n) => ({
    txHash: hashed(`tx ${height} ${n}`, 64),
    sender: hashed(`sender ${height} ${n}`, 40),
    nonce: n,
    spends: [],
  }))
  const transfers = Array.from({ length: TRANSFERS }, (_, n) => {
    const txHash = transactions[n % TRANSACTIONS]?.txHash ?? ''
    const isOurs = n % (TRANSFERS / OURS) === 0
    // As many exchanges of either table, far from each other in both.
    const place = height * 7919 + (n * OURS * 211) / TRANSFERS
    const address = isOurs ? filledAddress(1 + (place % watched)) : hashed(`to ${height} ${n}`, 40)
    return { identity: `${txHash}:${n}`, txHash, address, memo: null, contract: null, units: 10n ** 18n, sender: null }
  })
  const [hash, parentHash] = [hashed(`block ${height}`, 64), hashed(`block ${height - 1}`, 64)]
  return { height, hash, parentHash, time: 0, transfers, transactions }
}

const openStore = (url: string) => {
  const database = openDatabase(url, { max: 2 })
  return { database, store: createStore(database) }
}

/** Appends blocks of the same shape to both databases in turn. The time with few watched addresses ÷ that with many. */
export async function compareBlockScans(
  few: { url: string; rows: number },
  many: { url: string; rows: number },
): Promise<{ ratio: number; fewMs: number; manyMs: number }> {
  const sides = [few, many].map(({ url, rows }) => ({
    ...openStore(url),
    rows,
    times: [] as number[],
  }))
  for (const { store, rows } of sides) await store.chainLog.begin(NETWORK, blockOf(HEIGHT - 1, rows))
  for (let n = 0; n < WARM_UP + BLOCKS; n++) {
    for (const side of n % 2 === 0 ? sides : [...sides].reverse()) {
      const block = blockOf(HEIGHT + n, side.rows)
      const startedAt = performance.now()
      const appended = await side.store.transaction((tx) => tx.chainLog.append(NETWORK, block, rules))
      if (!appended) throw new Error(`block ${block.height} was not appended`)
      if (n >= WARM_UP) side.times.push(performance.now() - startedAt)
    }
  }
  for (const { database } of sides) await database.close()
  const [fewMs = Number.NaN, manyMs = Number.NaN] = sides.map(({ times }) => median(times))
  return { ratio: fewMs / manyMs, fewMs, manyMs }
}
