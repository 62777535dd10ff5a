import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { tamper } from '../../../../test/support/tamper.ts'
import { until } from '../../../../test/support/until.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createWatchNonces } from '../../../src/exchange/operations/watch-nonces.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import { timeOrderedId } from '../../../src/lib/id.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const DEPOSIT = COIN / 200n
const SUBJECT = 'nonce-gap:eth:eth-hot'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const readLane = async () => {
  const [row] = await fixture.database.query<{ next: string; gap: string | null }>(
    "select next, gap from nonce_lanes where network = 'eth' and address = 'eth-hot'",
  )
  return row
}
/** The nonces of the wallet's transactions, in their order. */
const listNonces = async () => {
  const rows = await fixture.database.query<{ nonce: number }>(
    "select split_part(conflict_key, ':', 2)::int as nonce from transactions where wallet = 'eth-hot' order by 1",
  )
  return rows.map(({ nonce }) => nonce)
}
/** Lets all unmined transactions have waited for two minutes. */
const age = () =>
  fixture.database.query(
    "update transactions set created_at = created_at - interval '2 minutes' where wallet = 'eth-hot' and state = 'live'",
  )
const findAlarm = () => fixture.store.alarms.find(SUBJECT)

async function pay(): Promise<Exchange> {
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, DEPOSIT)
  await fixture.mineBlocks(8)
  return exchange
}

/** The fake chain mines any nonce; a real one mines them in their order. This one holds those after a gap. */
async function whileUnmined(work: () => Promise<void>): Promise<void> {
  fixture.fakes.eth.behaviour.dropsBroadcasts = true
  await work()
  fixture.fakes.eth.behaviour.dropsBroadcasts = false
}

describe('a nonce that no transaction has (T44, I-26)', () => {
  test('is found in two checks while later ones wait, and is the nonce of the next transaction', async () => {
    expect(await fixture.readStatus(await pay())).toBe('finished')
    const next = Number((await readLane())?.next)
    // As in a database that was restored: somebody has signed `next`, and no row and no node has it.
    await fixture.database.query("update nonce_lanes set next = next + 1 where address = 'eth-hot'")
    const check = createWatchNonces({ store: fixture.store, log: fixture.dependencies.log })
    const { chain } = fixture.fakes.eth
    let waiting: Exchange | null = null
    await whileUnmined(async () => {
      waiting = await pay()
      await check(chain)
      await check(chain)
      // Its transaction has waited for less than a minute.
      expect([await findAlarm(), (await readLane())?.gap]).toEqual([null, null])
      await age()
      await check(chain)
      expect([await findAlarm(), (await readLane())?.gap]).toEqual([null, null])
      await check(chain)
      expect(await findAlarm()).toMatchObject({
        severity: 'warning',
        detail: { wallet: 'eth-hot', missing: next },
      })
      expect(await readLane()).toEqual({ next: String(next + 2), gap: String(next) })
      // Also in another worker, and as long as it lasts.
      await createWatchNonces({ store: fixture.store, log: fixture.dependencies.log })(chain)
      await check(chain)
      expect(await findAlarm()).not.toBeNull()
    })
    const second = await pay()
    expect((await listNonces()).slice(-2)).toEqual([next, next + 1])
    expect(await readLane()).toEqual({ next: String(next + 2), gap: null })
    expect(await fixture.readStatus(second)).toBe('finished')
    await fixture.mineBlocks(8)
    expect(waiting && (await fixture.readStatus(waiting))).toBe('finished')
    await check(chain)
    expect(await findAlarm()).toBeNull()
    await pay()
    expect((await listNonces()).at(-1)).toBe(next + 2)
  })

  test('is none while a transaction has it: unmined, or confirmed at nodes that lag', async () => {
    const check = createWatchNonces({ store: fixture.store, log: fixture.dependencies.log })
    const { chain } = fixture.fakes.eth
    const before = await readLane()
    await whileUnmined(async () => {
      await pay()
      await age()
      for (let n = 0; n < 2; n++) await check(chain)
      const mined = (await chain.reader.minedNonce?.('eth-hot')) ?? 0
      const lagging: Chain = { ...chain, reader: { ...chain.reader, minedNonce: async () => mined - 1 } }
      for (let n = 0; n < 2; n++) await check(lagging)
      // An expired transaction has used its nonce, too.
      const key = `eth-hot:${mined - 1}`
      const proof = { reverted: 'a block hash' }
      const change = (state: string, json: object | null) =>
        tamper(fixture.database, 'transactions', [
          'update transactions set state = $1, proof = $2 where conflict_key = $3',
          [state, json && JSON.stringify(json), key],
        ])
      await change('expired', proof)
      for (let n = 0; n < 2; n++) await check(lagging)
      await change('final', null)
      // One node of several that lags or lies is not asked.
      const disagreeing: Chain = {
        ...chain,
        reader: { ...chain.reader, minedNonce: async (_address, of) => (of === 'most' ? mined : 0) },
      }
      for (let n = 0; n < 2; n++) await check(disagreeing)
    })
    expect(await findAlarm()).toBeNull()
    expect(await readLane()).toEqual({ next: String(Number(before?.next) + 1), gap: null })
    await fixture.mineBlocks(8)
  })

  test('ends when it was mined in a transaction that another database has', async () => {
    const check = createWatchNonces({ store: fixture.store, log: fixture.dependencies.log })
    const { chain } = fixture.fakes.eth
    const mined = (await chain.reader.minedNonce?.('eth-hot')) ?? 0
    await fixture.database.query("update nonce_lanes set next = next + 1, gap = $1 where address = 'eth-hot'", [mined])
    await check(chain)
    expect(await findAlarm()).not.toBeNull()
    const later: Chain = { ...chain, reader: { ...chain.reader, minedNonce: async () => mined + 1 } }
    await check(later)
    expect([await findAlarm(), (await readLane())?.gap]).toEqual([null, null])
  })

  test('is not reopened by a check that waited while another worker took it', async () => {
    const { database, store } = fixture
    const nonce = Number((await readLane())?.next)
    await database.query("update nonce_lanes set next = next + 1 where address = 'eth-hot'")
    const key = `eth-hot:${nonce}`
    let reopening = Promise.resolve()
    await database.transaction(async (tx) => {
      await tx.query("select 1 from nonce_lanes where address = 'eth-hot' for update")
      reopening = store.transaction((other) => other.transactions.reopenNonce('eth', 'eth-hot', nonce))
      await until('the check waits for the lane', async () => {
        const rows = await database.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%nonce_lanes%'",
        )
        return rows.length > 0
      })
      await tx.query(
        `insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources)
         values ($1, 'eth', 'eth-hot', 'hot', 0, $2, array[$2])`,
        [timeOrderedId(), key],
      )
    })
    await reopening
    expect((await readLane())?.gap).toBeNull()
    await tamper(database, 'transactions', ['delete from transactions where conflict_key = $1', [key]])
  })
})
