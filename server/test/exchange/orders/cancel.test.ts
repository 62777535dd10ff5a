import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import {
  COIN,
  ETHER,
  listExecutions,
  makeNewExchange,
  partnerId,
  requireCreated,
  startMoneyPath,
} from '../money-path.ts'

const another = '018f2b1c-0000-7000-8000-000000000002'
const UNITS = COIN / 10n
const RACES = 8

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: COIN, eth: 1_000n * ETHER })
})
afterAll(() => path.close())

const create = () => path.createExchange({ fromUnits: UNITS })
const cancel = ({ id }: Exchange) => path.store.exchanges.cancel(id)
const read = async ({ id, partnerId: owner }: Exchange) => {
  const view = await path.store.exchanges.find(owner, id)
  return [view?.exchange.status, view?.exchange.reason]
}
const reasonsOf = async (exchange: Exchange) =>
  (await listExecutions(path.database, exchange)).map(({ status, reason }) => [status, reason])

/** At a fixed rate within the limits of production: 30 % of the free reserve, a third of it for one partner. Null if that is exceeded. */
const orderFixed = async (toUnits: bigint, owner = partnerId) => {
  const rate = { nonce: randomUUID(), expiresAt: new Date(Date.now() + 60_000) }
  const terms = { flow: 'fixed-rate', rate, toUnits, fixedReservePercent: 30, fixedPartnerPercent: 33 } as const
  const order = makeNewExchange({ ...terms, partnerId: owner, fromUnits: UNITS })
  const [outcome] = await path.store.exchanges.create([order])
  return outcome?.kind === 'insufficient' ? null : requireCreated(outcome)
}

describe('a cancel', () => {
  test('closes the exchange, and a repeat changes nothing', async () => {
    const exchange = await create()
    expect(await cancel(exchange)).toBe('cancelled')
    expect(await read(exchange)).toEqual(['failed', 'CANCELLED'])
    const events = await path.listEvents(exchange)
    expect(await cancel(exchange)).toBe('cancelled')
    expect(await path.listEvents(exchange)).toEqual(events)
    await path.mineBlocks(1)
    expect(await read(exchange)).toEqual(['failed', 'CANCELLED'])
  })

  test('is refused once a payment was seen, unconfirmed or in a block, and after the end', async () => {
    const exchange = await create()
    path.payDeposit(exchange, UNITS)
    await path.runWorkers()
    expect(await cancel(exchange)).toBe('seen')
    await path.mineBlocks(4)
    await path.clearHolds()
    await path.mineBlocks(4)
    expect(await cancel(exchange)).toBe('seen')
    expect(await read(exchange)).toEqual(['finished', null])
  })

  test('a deposit after a cancel is refunded, not executed', async () => {
    const exchange = await create()
    await cancel(exchange)
    path.payDeposit(exchange, UNITS)
    await path.mineBlocks(4)
    await path.clearHolds()
    await path.mineBlocks(4)
    expect(await reasonsOf(exchange)).toEqual([['refunded', 'CANCELLED']])
    expect(await read(exchange)).toEqual(['refunded', 'CANCELLED'])
    // A second one, too: the terminal status does not change what a cancel means.
    path.payDeposit(exchange, UNITS)
    await path.mineBlocks(4)
    await path.clearHolds()
    await path.mineBlocks(4)
    expect(await reasonsOf(exchange)).toEqual([
      ['refunded', 'CANCELLED'],
      ['refunded', 'CANCELLED'],
    ])
    expect((await path.listPayouts(exchange)).map(({ purpose }) => purpose)).toEqual(['refund', 'refund'])
  })

  test('waits for a sighting that is about to commit, and is refused', async () => {
    const exchange = await create()
    const inserted = Promise.withResolvers<void>()
    const committing = Promise.withResolvers<void>()
    const other = path.another(1).transaction(async (tx) => {
      await tx.query(`insert into sightings (network, tx_hash, exchange_id, units) values ('btc', $1, $2, '{1}')`, [
        `seen-${exchange.id}`,
        exchange.id,
      ])
      inserted.resolve()
      await committing.promise
    })
    await inserted.promise
    const cancelled = cancel(exchange)
    await until('the cancel waits for the sighting', async () => {
      const waiting = await path.database.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return waiting.length > 0
    })
    committing.resolve()
    await other
    expect(await cancelled).toBe('seen')
  })

  test('a cancel and a block with the payment at the same moment: executed, or refunded, never both or neither', async () => {
    const outcomes: string[] = []
    for (let n = 0; n < RACES; n++) {
      const exchange = await create()
      path.payDeposit(exchange, UNITS)
      path.fakes.btc.mine()
      const [outcome] = await Promise.all([cancel(exchange), path.services.record(path.fakes.btc.chain)])
      outcomes.push(outcome)
      await path.mineBlocks(4)
      await path.clearHolds()
      await path.mineBlocks(4)
      const expected = outcome === 'cancelled' ? ['refunded', 'CANCELLED'] : ['finished', null]
      expect(await reasonsOf(exchange)).toEqual([expected])
      expect(await read(exchange)).toEqual(expected)
    }
    expect(outcomes).toHaveLength(RACES)
  })

  test('releases the reserve of a fixed rate, and keeps it in the share of its partner', async () => {
    const free = (await path.store.inventory.available()).get('eth@eth') ?? 0n
    const share = (((free * 30n) / 100n) * 33n) / 100n
    const first = await orderFixed(share)
    if (!first) throw new Error('the whole share was refused')
    expect((await path.store.inventory.available()).get('eth@eth')).toBe(free - share)
    expect(await cancel(first)).toBe('cancelled')
    expect((await path.store.inventory.available()).get('eth@eth')).toBe(free)
    // The partner has used its share up, and the quote says so; another partner has all of its own.
    expect(await orderFixed(share / 100n)).toBeNull()
    const stock = (await path.store.inventory.fixedStock()).get('eth@eth')
    expect([stock?.freeUnits, stock?.heldUnits, stock?.heldByPartner.get(partnerId)]).toEqual([free, 0n, share])
    expect(await orderFixed(share, another)).not.toBeNull()
    // When the promise would have ended, the share is free again.
    await path.database.query("update cancelled_promises set until = clock_timestamp() - interval '1 second'")
    expect(await orderFixed(share)).not.toBeNull()
    await path.store.inventory.releaseExpired(10)
    expect(await path.database.query('select 1 from cancelled_promises')).toEqual([])
  })
})
