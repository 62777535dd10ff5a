import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createCompareJournal } from '../../../src/exchange/operations/compare-signing-journal.ts'
import type { JournalPosition, PayoutRelease, SignerJournal } from '../../../src/exchange/ports/signer.ts'
import type { Store } from '../../../src/exchange/ports/store/store.ts'
import { createLog } from '../../../src/lib/log.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { payeeMacs } from '../../payee-macs.ts'

let app: TestDatabase
let store: Store
let journal: {
  id: string | null
  generation: string | null
  releases: PayoutRelease[]
  position: JournalPosition
  /** Runs before each part of the releases is read. */
  beforeRead(): Promise<void>
}
beforeAll(async () => {
  app = await openTestDatabase()
  store = createStore(app.database, payeeMacs)
})
afterAll(() => app.close())
beforeEach(async () => {
  journal = {
    id: null,
    generation: null,
    releases: [],
    position: { segments: 1, bytes: 100 },
    beforeRead: async () => undefined,
  }
  await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
  await store.pauses.resume('payouts:all')
  await store.alarms.clear('database:older', 'journal:behind', 'journal:new')
  await app.database.query('delete from signing_journals')
})

const memoryJournal: SignerJournal = {
  id: () => journal.id,
  position: () => journal.position,
  generation: () => journal.generation,
  recordName: async () => {
    journal.id = randomUUID()
    return journal.id
  },
  recordGeneration: async (generation) => {
    journal.generation = generation
  },
  newestReleases: () => journal.releases.slice(-2_000),
  async *allReleases() {
    for (let n = 0; n < journal.releases.length; n += 1_000) {
      await journal.beforeRead()
      yield journal.releases.slice(n, n + 1_000)
    }
  },
  async *releasedTransactions() {},
  bytes: () => 0,
}
const log = createLog({ level: 'silent', pretty: false })
const createComparison = (areNewConfirmed = true) =>
  createCompareJournal({ store, journal: memoryJournal, log, areNewConfirmed, changeAddress: () => null })
const compareJournal = (extent: 'all' | 'newest' = 'all') => createComparison()(extent)
const arePayoutsPaused = async () => (await store.pauses.list()).some(({ scope }) => scope === 'payouts:all')
const readAlarmReasons = async () =>
  (await store.alarms.list(10)).find(({ subject }) => subject === 'database:older')?.detail['reasons']
/** Repeats the newest generation with another cluster or timeline, as in a copy of the database on another server. */
const moveGeneration = (system: string, timeline: string) =>
  app.database.query(
    `insert into signing_epochs (epoch, system_identifier, timeline)
     select gen_random_uuid(), ${system}, ${timeline} from signing_epochs order by id desc limit 1`,
  )
const makeRelease = (): PayoutRelease => ({
  payoutId: randomUUID(),
  network: 'eth',
  txHash: `0x${randomUUID()}`,
  assetId: 'eth@eth',
  address: '0xa',
  memo: null,
  units: 5n,
  at: new Date(),
})

describe('comparing the database with the signing journal', () => {
  test('accepts a new journal or one of an earlier generation, and records the current generation in it', async () => {
    expect(await compareJournal()).toBe(true)
    const firstGeneration = journal.generation
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    expect(await compareJournal()).toBe(true)
    expect(journal.generation).not.toBe(firstGeneration)
    expect(await arePayoutsPaused()).toBe(false)
  })

  test.each([
    ['another cluster', "'1'", 'timeline'],
    ['another timeline', 'system_identifier', "'000000FF'"],
  ])(
    'pauses payouts when the database is on %s, until the operator starts a new generation',
    async (_place, system, timeline) => {
      await compareJournal()
      await moveGeneration(system, timeline)
      expect(await compareJournal('newest')).toBe(false)
      expect([await arePayoutsPaused(), await readAlarmReasons()]).toEqual([
        true,
        [expect.stringContaining('timeline has changed')],
      ])
      await store.pauses.resume('payouts:all')
      expect(await compareJournal()).toBe(false)
      expect(await arePayoutsPaused()).toBe(true)
      await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
      expect(await compareJournal()).toBe(true)
    },
  )

  test('pauses payouts when the journal has a later generation', async () => {
    journal.generation = randomUUID()
    expect(await compareJournal()).toBe(false)
    expect([await arePayoutsPaused(), await readAlarmReasons()]).toEqual([
      true,
      [expect.stringContaining('later generation')],
    ])
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    expect(await compareJournal()).toBe(true)
  })

  test('pauses payouts when the database lacks one of 6 000 releases, and lists that release', async () => {
    const releases = Array.from({ length: 6_000 }, makeRelease)
    const missingRelease = releases[17]
    const id = randomUUID()
    await app.database.query(
      "insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources) values ($1, 'eth', 'w', 'hot', 0, 'w:0', '{}')",
      [id],
    )
    await app.database.query(
      `insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units)
       select $1, 'w:0', 'eth', h, 'raw', '{}', 1 from unnest($2::text[]) as h`,
      [id, releases.flatMap(({ txHash }) => (txHash === missingRelease?.txHash ? [] : [txHash]))],
    )
    journal.releases = releases
    expect(await compareJournal('newest')).toBe(true)
    expect(await compareJournal('all')).toBe(false)
    expect(await store.signingJournal.listUnacknowledged(10)).toMatchObject([
      { txHash: missingRelease?.txHash, payoutId: missingRelease?.payoutId },
    ])
    expect(await arePayoutsPaused()).toBe(true)
  })
})

test('a pause of all payouts for another reason keeps it while the journals differ, too', async () => {
  await compareJournal()
  await store.pauses.pause('payouts:all', 'the ledger is inconsistent', 'reconciler')
  journal.generation = randomUUID()
  expect(await compareJournal()).toBe(false)
  expect(await store.pauses.list()).toEqual([{ scope: 'payouts:all', reason: 'the ledger is inconsistent' }])
})

describe('a comparison that takes long (it read gigabytes in the transaction of its alarm)', () => {
  test('has committed pause and alarm before it reads the journal', async () => {
    await compareJournal()
    journal.generation = randomUUID()
    journal.releases = [makeRelease()]
    const seen: unknown[] = []
    journal.beforeRead = async () => {
      seen.push(await arePayoutsPaused(), await readAlarmReasons())
    }
    expect(await compareJournal()).toBe(false)
    expect(seen).toEqual([true, [expect.stringContaining('later generation')]])
  })

  test('has committed them for a missing release before it reads on', async () => {
    await compareJournal()
    journal.releases = Array.from({ length: 2_000 }, makeRelease)
    const seen: boolean[] = []
    journal.beforeRead = async () => {
      seen.push(await arePayoutsPaused())
    }
    expect(await compareJournal()).toBe(false)
    expect(seen).toEqual([false, true])
  })
})

describe('a restore under a running worker that released more than it compares each minute', () => {
  /** How often the whole journal was read. */
  let reads: number
  const countMissing = async () =>
    (await app.database.query('select 1 from forgotten_payouts where acknowledged_at is null')).length
  /** What the backup has: the worker and its last comparison, which is older than the releases. */
  const restoreBackup = () => app.database.query('update signing_journals set compared = gen_random_uuid()')
  beforeEach(async () => {
    await compareJournal()
    journal.releases = Array.from({ length: 3_000 }, makeRelease)
    reads = 0
    journal.beforeRead = async () => {
      reads++
    }
  })

  test('finds all releases that the database lacks, and reads the whole journal once in each hold', async () => {
    const compare = createComparison()
    expect(await compare('newest')).toBe(false)
    expect([await countMissing(), reads]).toEqual([3_000, 3])
    expect(await compare('newest')).toBe(false)
    expect(reads).toBe(3)
    await restoreBackup()
    expect(await compare('newest')).toBe(false)
    expect(reads).toBe(6)
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    expect(await compare('newest')).toBe(true)
    expect(reads).toBe(6)
    await moveGeneration('system_identifier', "'000000FF'")
    expect(await compare('newest')).toBe(false)
    expect(reads).toBe(9)
  })

  test('asks the other workers for their whole journals, and tells who runs and has not compared it', async () => {
    const [{ id = '' } = {}] = await app.database.query<{ id: string }>(
      'insert into signing_journals (id, segments, bytes) values (gen_random_uuid(), 1, 1) returning id',
    )
    const uncompared: (readonly string[])[] = []
    journal.beforeRead = async () => void uncompared.push(await store.signingJournal.listUncompared())
    const compare = createComparison()
    expect(await compare('newest')).toBe(false)
    expect(uncompared.map((ids) => [...ids].sort())).toEqual(Array(3).fill([id, journal.id ?? ''].sort()))
    expect(await store.signingJournal.listUncompared()).toEqual([id])
    // The other worker sees no reason of its own, and yet compares its whole journal.
    journal = { ...journal, id, releases: [], position: { segments: 1, bytes: 1 } }
    await compareJournal('newest')
    expect(await store.signingJournal.listUncompared()).toEqual([])
    await app.database.query(
      "update signing_journals set compared = null, seen_at = clock_timestamp() - interval '4 minutes' where id = $1",
      [id],
    )
    expect(await store.signingJournal.listUncompared()).toEqual([])
  })
})

describe('a journal that lost its newest records', () => {
  const isAlarmRaised = async () => (await store.alarms.list(10)).some(({ subject }) => subject === 'journal:behind')

  test.each([
    ['file is missing', { segments: 2, bytes: 900 }, { segments: 1, bytes: 1_000 }],
    ['file is shorter', { segments: 2, bytes: 900 }, { segments: 2, bytes: 899 }],
  ])('pauses payouts when its newest %s, until the operator acknowledges it', async (_what, before, after) => {
    await compareJournal()
    journal.position = before
    expect(await compareJournal('newest')).toBe(true)
    journal.position = after
    expect(await compareJournal()).toBe(false)
    expect([await arePayoutsPaused(), await isAlarmRaised()]).toEqual([true, true])
    // A repeated comparison does not take the loss for the new position.
    expect(await compareJournal()).toBe(false)
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    expect(await compareJournal()).toBe(true)
  })

  test('is not confused with another journal, or with one that grows', async () => {
    journal.position = { segments: 5, bytes: 10 }
    await compareJournal()
    expect(await compareJournal()).toBe(true)
    journal.position = { segments: 6, bytes: 1 }
    expect(await compareJournal()).toBe(true)
    journal.id = randomUUID()
    journal.position = { segments: 1, bytes: 1 }
    expect(await compareJournal()).toBe(true)
    expect(await isAlarmRaised()).toBe(false)
  })
})

describe('a new journal', () => {
  const isAlarmRaised = async () => (await store.alarms.list(10)).some(({ subject }) => subject === 'journal:new')
  /** A worker starts on an empty folder. */
  const startAnew = () => {
    journal = { ...journal, id: null, generation: null, position: { segments: 1, bytes: 50 } }
  }

  test('is accepted as the first one of a database', async () => {
    expect(await compareJournal()).toBe(true)
    expect(await compareJournal('newest')).toBe(true)
    expect(await arePayoutsPaused()).toBe(false)
  })

  test('beside others pauses payouts, as a lost one does, until the operator confirms it', async () => {
    await compareJournal()
    const other = journal
    startAnew()
    expect(await compareJournal()).toBe(false)
    expect([await arePayoutsPaused(), await isAlarmRaised()]).toEqual([true, true])
    // It says nothing about the database, so no worker that was stopped delays its release.
    expect(await store.signingJournal.listUncompared()).toEqual([])
    // A restart does not take it for a known one.
    expect(await compareJournal()).toBe(false)
    expect(journal.generation).toBeNull()
    const added = journal
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    await store.pauses.resume('payouts:all')
    for (const one of [other, added]) {
      journal = one
      expect(await compareJournal('newest')).toBe(true)
    }
    expect(await arePayoutsPaused()).toBe(false)
    // The next one that is lost is noticed before any other worker has reported.
    await store.transaction((tx) => tx.signingJournal.beginGeneration({ skipsIndexes: true }))
    startAnew()
    expect(await compareJournal()).toBe(false)
  })

  test('of a sandbox, which loses its journals, is accepted', async () => {
    await compareJournal()
    startAnew()
    expect(await createComparison(false)('all')).toBe(true)
    expect([await arePayoutsPaused(), await isAlarmRaised()]).toEqual([false, false])
  })
})

describe('the origin of a payout id', () => {
  let depositId = ''
  beforeAll(async () => {
    const [row] = await app.database.query<{ id: string }>(
      `insert into deposits (network, identity, tx_hash, address, memo, units, required_confirmations)
       values ('eth', '0x1:0', '0x1', '0xa', '', 1, 1) returning id`,
    )
    depositId = row?.id ?? ''
  })

  test('depends on the deposit and the leg only, so that a restored database requests the same id', async () => {
    const first = await store.signingJournal.readPayoutOrigin(depositId, 0)
    expect(first).toBe('["eth","0x1:0",0,"0"]')
    expect(await store.signingJournal.readPayoutOrigin(depositId, 0)).toBe(first)
    expect(await store.signingJournal.readPayoutOrigin(depositId, 1)).not.toBe(first)
  })
})
