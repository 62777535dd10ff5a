import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { createStore } from '../server/src/adapters/postgres/exchange/store.ts'
import type { ScannedBlock } from '../server/src/exchange/ports/chain.ts'
import type { AppendRules } from '../server/src/exchange/ports/store/chain-log.ts'
import { payeeMacs } from '../server/test/payee-macs.ts'
import type { App } from './infrastructure.ts'
import { median } from './load.ts'
import type { Result } from './results.ts'
import { runStatements, SEEDED_NETWORK, seededDepositAddress } from './seed-database.ts'

const TRANSACTIONS = 1_000
const TRANSFERS = 2_500
/** Transfers of a block to watched deposit addresses. */
const OWN_TRANSFERS = 5
const WARM_UP = 5
/** Above the blocks of the seeded deposits. */
const FIRST_HEIGHT = 1_000_000
const BLOCKS = 60
/** The default of `SWAPYARD_POOL_MAX`. */
const POOL_MAX = 10

const rules: AppendRules = {
  assetOf: () => ({ id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null }),
  requirements: () => ({ confirmations: 12, tag: null }),
  inFlightBlocks: 48,
  areFundingsUnclaimed: false,
  fundingConfirmations: 12,
  keepBlocks: 1_000,
  tracksUtxos: false,
}

const hashOf = (text: string, length: number) => `0x${createHash('sha256').update(text).digest('hex').slice(0, length)}`

function createBlock(height: number, watchedCount: number): ScannedBlock {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, n) => ({
    txHash: hashOf(`tx ${height} ${n}`, 64),
    sender: hashOf(`sender ${height} ${n}`, 40),
    nonce: n,
    spends: [],
  }))
  const transfers = Array.from({ length: TRANSFERS }, (_, n) => {
    const txHash = transactions[n % TRANSACTIONS]?.txHash ?? ''
    const isOurs = n % (TRANSFERS / OWN_TRANSFERS) === 0
    // The same number of exchanges of both tables, far apart in each.
    const index = height * 7919 + (n * OWN_TRANSFERS * 211) / TRANSFERS
    const address = isOurs ? seededDepositAddress(1 + (index % watchedCount)) : hashOf(`to ${height} ${n}`, 40)
    return { identity: `${txHash}:${n}`, txHash, address, memo: null, contract: null, units: 10n ** 18n, sender: null }
  })
  const [hash, parentHash] = [hashOf(`block ${height}`, 64), hashOf(`block ${height - 1}`, 64)]
  return { height, hash, parentHash, time: 0, transfers, transactions }
}

/** Appends blocks of the same size to both databases in turn and compares the median times. Ends the workers, which follow the same network. */
export async function benchBlockScan(small: App, large: App): Promise<Result[]> {
  for (const { worker, urls } of [small, large]) {
    await worker?.stop()
    await runStatements(urls.owner, [`delete from cursors where network = '${SEEDED_NETWORK}'`])
  }
  const sides = [small, large].map(({ urls, rows }) => {
    const database = openDatabase(urls.worker, { max: POOL_MAX })
    return { database, store: createStore(database, payeeMacs), rows, times: [] as number[] }
  })
  for (const { store, rows } of sides) await store.chainLog.begin(SEEDED_NETWORK, createBlock(FIRST_HEIGHT - 1, rows))
  for (let n = 0; n < WARM_UP + BLOCKS; n++) {
    for (const side of n % 2 === 0 ? sides : [...sides].reverse()) {
      const block = createBlock(FIRST_HEIGHT + n, side.rows)
      const startedAt = performance.now()
      const appended = await side.store.transaction((tx) => tx.chainLog.append(SEEDED_NETWORK, block, rules))
      if (!appended) throw new Error(`block ${block.height} was not appended`)
      if (n >= WARM_UP) side.times.push(performance.now() - startedAt)
    }
  }
  for (const { database } of sides) await database.close()
  const [smallMs = Number.NaN, largeMs = Number.NaN] = sides.map(({ times }) => median(times))
  return [
    {
      name: `block scan, ${large.rows} ÷ ${small.rows} addresses`,
      figures: [{ value: smallMs / largeMs, goal: { atLeast: 0.9 } }],
      note: `${smallMs.toFixed(1)} ms and ${largeMs.toFixed(1)} ms to record a block of ${TRANSACTIONS} transactions and ${TRANSFERS} transfers that was already read from its node`,
    },
  ]
}
