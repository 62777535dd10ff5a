import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createCompareJournal } from '../../../src/exchange/operations/compare-signing-journal.ts'
import type { PayoutRelease, SignerJournal } from '../../../src/exchange/ports/signer.ts'
import type { Store } from '../../../src/exchange/ports/store/store.ts'
import { createLog } from '../../../src/lib/log.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'

let app: TestDatabase
let store: Store
let journal: { epoch: string | null; releases: PayoutRelease[] }
beforeAll(async () => {
  app = await openTestDatabase()
  store = createStore(app.database)
})
afterAll(() => app.close())
beforeEach(async () => {
  journal = { epoch: null, releases: [] }
  await store.transaction((tx) => tx.signingJournal.beginGeneration())
  await store.pauses.resume('payouts:all')
  await store.alarms.clear('database:older')
})

const memory: SignerJournal = {
  generation: () => journal.epoch,
  recordGeneration: async (epoch) => {
    journal.epoch = epoch
  },
  releases: (last) => (last === undefined ? journal.releases : journal.releases.slice(-last)),
  releasedTransactions: async () => [],
}
const log = createLog({ level: 'silent', pretty: false })
const compare = (extent: 'all' | 'newest' = 'all') => createCompareJournal({ store, journal: memory, log })(extent)
const held = async () => (await store.pauses.list()).some(({ scope }) => scope === 'payouts:all')
const reasons = async () =>
  (await store.alarms.list(10)).find(({ subject }) => subject === 'database:older')?.detail['reasons']
/** The last life is said to have begun elsewhere, as a copy of the database on another cluster finds it. */
const beginElsewhere = (system: string, timeline: string) =>
  app.database.query(
    `insert into signing_epochs (epoch, system_identifier, timeline)
     select gen_random_uuid(), ${system}, ${timeline} from signing_epochs order by id desc limit 1`,
  )
const release = (): PayoutRelease => ({
  payoutId: randomUUID(),
  network: 'eth',
  txHash: `0x${randomUUID()}`,
  assetId: 'eth@eth',
  address: '0xa',
  memo: null,
  units: 5n,
  at: new Date(),
})

describe('the comparison with the journal', () => {
  test('is content with a new journal and with one that saw an earlier life, and remembers the life', async () => {
    expect(await compare()).toBe(true)
    const seen = journal.epoch
    await store.transaction((tx) => tx.signingJournal.beginGeneration())
    expect(await compare()).toBe(true)
    expect(journal.epoch).not.toBe(seen)
    expect(await held()).toBe(false)
  })

  test.each([
    ['another cluster', "'1'", 'timeline'],
    ['another timeline', 'system_identifier', "'000000FF'"],
  ])(
    'holds payouts where the database is on %s, until the operator starts a new generation',
    async (_what, system, timeline) => {
      await compare()
      await beginElsewhere(system, timeline)
      expect(await compare('newest')).toBe(false)
      expect([await held(), await reasons()]).toEqual([true, [expect.stringContaining('timeline has changed')]])
      await store.pauses.resume('payouts:all')
      expect(await compare()).toBe(false)
      expect(await held()).toBe(true)
      await store.transaction((tx) => tx.signingJournal.beginGeneration())
      expect(await compare()).toBe(true)
    },
  )

  test('holds payouts where the journal saw a later life', async () => {
    journal.epoch = randomUUID()
    expect(await compare()).toBe(false)
    expect([await held(), await reasons()]).toEqual([true, [expect.stringContaining('later generation')]])
    await store.transaction((tx) => tx.signingJournal.beginGeneration())
    expect(await compare()).toBe(true)
  })

  test('holds payouts where one of a thousand releases is not in the database, and says which', async () => {
    const releases = Array.from({ length: 6_000 }, release)
    const lost = releases[17]
    const id = randomUUID()
    await app.database.query(
      "insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources) values ($1, 'eth', 'w', 'hot', 0, 'w:0', '{}')",
      [id],
    )
    await app.database.query(
      `insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units)
       select $1, 'w:0', 'eth', h, 'raw', '{}', 1 from unnest($2::text[]) as h`,
      [id, releases.flatMap(({ txHash }) => (txHash === lost?.txHash ? [] : [txHash]))],
    )
    journal.releases = releases
    expect(await compare('newest')).toBe(true)
    expect(await compare('all')).toBe(false)
    expect(await store.signingJournal.listUnacknowledged(10)).toMatchObject([
      { txHash: lost?.txHash, payoutId: lost?.payoutId },
    ])
    expect(await held()).toBe(true)
  })
})

describe('what a payout’s id is made of', () => {
  /** The id before ids were made with a key (decision 0032): sha256 of `["eth","0x1:0",0,"0"]`, as a UUID of version 8. */
  const PLAIN = '2ee4fbe0-4d34-84c1-8193-bea1548ea639'
  let depositId = ''
  beforeAll(async () => {
    const [row] = await app.database.query<{ id: string }>(
      `insert into deposits (network, identity, tx_hash, address, memo, units, required_confirmations)
       values ('eth', '0x1:0', '0x1', '0xa', '', 1, 1) returning id`,
    )
    depositId = row?.id ?? ''
  })

  test('follows from its deposit alone: a restored database asks for the same one', async () => {
    const first = await store.signingJournal.readPayoutOrigin(depositId, 0)
    expect(first).toEqual({ text: '["eth","0x1:0",0,"0"]', plainId: PLAIN, isReleasedUnderPlainId: false })
    expect(await store.signingJournal.readPayoutOrigin(depositId, 0)).toEqual(first)
    expect((await store.signingJournal.readPayoutOrigin(depositId, 1)).text).not.toBe(first.text)
  })

  test('says where it left before ids were made with a key', async () => {
    journal.releases = [{ ...release(), payoutId: PLAIN }]
    expect(await compare()).toBe(false)
    expect(await store.signingJournal.readPayoutOrigin(depositId, 0)).toMatchObject({
      plainId: PLAIN,
      isReleasedUnderPlainId: true,
    })
    expect(await store.signingJournal.readPayoutOrigin(depositId, 1)).toMatchObject({ isReleasedUnderPlainId: false })
  })
})
