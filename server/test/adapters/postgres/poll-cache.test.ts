import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { Sql } from '../../../src/adapters/postgres/core/database.ts'
import { createFind } from '../../../src/adapters/postgres/exchange/poll-cache.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../../exchange/money-path.ts'
import { type OpenTransaction, openTransaction } from './open-transaction.ts'

/*
 * A response must never be older than its request (docs/poll-cache.md). The hard cases: transactions that end in another
 * order than they began, reads that overlap with writes, and tables that were rewritten.
 */
let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

/** The polls of one process. `look` compares each response with that of an empty cache. */
function poller(now?: () => number) {
  const queries: string[] = []
  const recordingSql: Sql = {
    query: (text, values, name) => {
      queries.push(name ?? text)
      return fixture.database.query(text, values, name)
    },
  }
  const find = createFind(recordingSql, now)
  const look = async (id: string) => {
    const found = await find(partnerId, id)
    expect(found).toEqual(await createFind(fixture.database)(partnerId, id))
    return found
  }
  /** The names of the queries that `work` makes. */
  const recordQueries = async (work: () => Promise<unknown>) => {
    queries.length = 0
    await work()
    return [...queries]
  }
  return { find, look, recordQueries }
}

/** A refunded exchange: it has rows in all tables that a response shows. */
async function refunded() {
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, 2_900n)
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('refunded')
  return exchange.id
}

describe('a poll', () => {
  test('queries only the changes of an unchanged exchange, and reads a changed one again', async () => {
    const { id } = await fixture.createExchange()
    const { look, find, recordQueries } = poller()
    await look(id)
    expect(await recordQueries(() => find(partnerId, id))).toEqual(['changed-exchanges'])
    await fixture.store.operator.setRefund(id, { address: 'another', memo: '7' })
    expect(await recordQueries(() => find(partnerId, id))).toEqual(['changed-exchanges', 'find-exchanges'])
    expect((await look(id))?.exchange.refund).toEqual({ address: 'another', memo: '7' })
  })

  test('shares one query with concurrent polls', async () => {
    const { id } = await fixture.createExchange()
    const { look, find, recordQueries } = poller()
    await look(id)
    expect(await recordQueries(() => Promise.all(Array.from({ length: 50 }, () => find(partnerId, id))))).toHaveLength(
      1,
    )
  })

  test('returns the current rows at every step', async () => {
    const { look } = poller()
    const [paid, back] = [await fixture.createExchange(), await fixture.createExchange()]
    const statuses = new Set<string | undefined>()
    const lookAtBoth = async () => {
      for (const { id } of [paid, back]) statuses.add((await look(id))?.exchange.status)
    }
    await lookAtBoth()
    fixture.payDeposit(paid, COIN / 200n)
    fixture.payDeposit(back, 2_900n)
    await fixture.runWorkers()
    for (let block = 0; block < 8; block++) {
      await lookAtBoth()
      await fixture.mineBlocks(1)
    }
    await lookAtBoth()
    expect([...statuses]).toEqual(expect.arrayContaining(['pending', 'confirming', 'finished', 'refunded']))
  })

  test("finds nothing for another partner's exchange, although it is cached", async () => {
    const { id } = await fixture.createExchange()
    const { look, find } = poller()
    await look(id)
    expect(await find(randomUUID(), id)).toBeNull()
    expect(await find(partnerId, id, 'private')).toBeNull()
    expect(await find(partnerId, id, 'standard')).not.toBeNull()
  })

  test('does not cache a response that was delayed while the exchange changed', async () => {
    const { id } = await fixture.createExchange()
    const delay = Promise.withResolvers<void>()
    const slowRead = Promise.withResolvers<void>()
    let [isSlow, time] = [false, 0]
    const sql: Sql = {
      query: async (text, values, name) => {
        const rows = await fixture.database.query<never>(text, values, name)
        if (isSlow && name === 'find-exchanges') {
          slowRead.resolve()
          await delay.promise
        }
        return rows
      },
    }
    const find = createFind(sql, () => time)
    const refund = async () => (await find(partnerId, id))?.exchange.refund?.address
    await refund()
    await fixture.store.operator.setRefund(id, { address: 'first', memo: null })
    isSlow = true
    const slow = refund()
    await slowRead.promise
    await fixture.store.operator.setRefund(id, { address: 'second', memo: null })
    isSlow = false
    // The mark moves every 200 ms.
    for (let n = 0; n < 4; n++) {
      time += 100
      expect(await refund()).toBe('second')
    }
    delay.resolve()
    expect(await slow).toBe('first')
    expect(await refund()).toBe('second')
  })

  test('clears the cache after a long pause, after many changes, and after a table was rewritten', async () => {
    let time = Date.now()
    const { id } = await fixture.createExchange()
    const { look, find, recordQueries } = poller(() => time)
    const again = () => recordQueries(() => find(partnerId, id))
    await look(id)
    expect(await again()).toEqual(['changed-exchanges'])
    time += 60_000
    expect(await again()).toEqual(['changed-exchanges', 'find-exchanges'])
    expect(await again()).toEqual(['changed-exchanges'])
    await fixture.database.query(
      `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, partner_fee_bps, expires_at, changed_by)
       select gen_random_uuid(), partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, partner_fee_bps, expires_at, pg_current_xact_id()
       from exchanges, generate_series(1, 1000) where id = $1`,
      [id],
    )
    expect(await again()).toEqual(['changed-exchanges', 'find-exchanges'])
    // Running transactions of the whole cluster hold the mark back; when they have ended, the thousand changes are below it.
    await vi.waitFor(async () => expect(await again()).toEqual(['changed-exchanges']), PATIENCE)
    await fixture.database.query('cluster payouts using payouts_pkey')
    expect(await again()).toEqual(['changed-exchanges', 'find-exchanges'])
  })
})

test('returns the current rows for any order in which transactions begin, write and end', async () => {
  const ids = [await refunded(), await refunded()]
  const writes = [
    'update exchanges set refund_memo = $2 where id = $1',
    'update executions set payin_hash = $2 where exchange_id = $1',
    "update payouts set memo = $2 where exchange_id = $1 and purpose = 'refund'",
  ]
  // Allows repeated updates of a refund.
  await fixture.database.query('alter table payouts disable trigger payout_update')
  // Every second query moves the mark.
  let time = 0
  const { look } = poller(() => {
    time += 75
    return time
  })
  // Each writer has its own rows, so that none waits for another.
  const step = fc.record({ who: fc.nat(5), act: fc.constantFrom('write', 'commit', 'roll back', 'look') })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const running = new Map<number, OpenTransaction>()
      try {
        for (const { who, act } of [...steps, { who: 0, act: 'look' }, { who: 1, act: 'look' }]) {
          const one = running.get(who)
          const id = ids[who % 2] ?? ''
          if (act === 'write') {
            const writer = one ?? (await openTransaction(fixture.database))
            running.set(who, writer)
            await writer.sql.query(writes[Math.floor(who / 2)] ?? '', [id, randomUUID()])
          } else if (act === 'look') {
            expect(await look(id)).not.toBeNull()
          } else if (one) {
            running.delete(who)
            await one.end(act === 'commit')
          }
        }
      } finally {
        for (const { end } of running.values()) await end(false)
      }
    }),
    { numRuns: 40 },
  )
})
