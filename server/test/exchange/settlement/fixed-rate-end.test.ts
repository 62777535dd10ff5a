import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createStepExchange } from '../../../src/exchange/settlement/step-exchange.ts'
import { present } from '../../../src/lib/assert.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
let reserves: ReturnType<typeof path.books.current>['reserves']
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
  reserves = path.books.current().reserves
})
afterAll(() => path.close())
beforeEach(() => {
  path.fakes.btc.behaviour.stopsClock = true
  path.fakes.btc.behaviour.seenAt = null
})

/** 0.04 BTC for 1 ether: 4 % less than the market gives, so that the fixed rate is the worse one. */
const create = (change: Parameters<typeof path.createExchange>[0] = {}) =>
  path.createExchange({ flow: 'fixed-rate', fromUnits: COIN / 25n, toUnits: (96n * ETHER) / 100n, ...change })
const pay = (exchange: Exchange) => path.fakes.btc.pay(exchange.deposit.address, COIN / 25n)
/** Moves all times of an exchange into the past, as if it were so many minutes old. */
const passMinutes = async ({ id }: Exchange, minutes: number) => {
  const ago = `- interval '${minutes} minutes'`
  await path.database.query(
    `with due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = '${id}')
     update exchanges set fixed_until = fixed_until ${ago}, expires_at = expires_at ${ago} where id = '${id}'`,
  )
  await path.database.query(`update sightings set first_seen_at = first_seen_at ${ago} where exchange_id = '${id}'`)
  await path.database.query(`update reservations set expires_at = expires_at ${ago} where exchange_id = '${id}'`)
  await path.database.query(
    `update deposits set first_seen_at = first_seen_at ${ago}, included_at = included_at ${ago} where exchange_id = '${id}'`,
  )
}
/** What the book shows of ether. */
const setReserve = (units: bigint) =>
  path.books.replace({ reserves: { ...reserves, available: new Map([['eth@eth', units]]) } })
/** When the watcher was last at the head. */
const setCaughtUp = (minutesAgo: number) =>
  path.database.query(
    `update cursors set caught_up_at = clock_timestamp() - interval '${minutesAgo} minutes' where network = 'btc'`,
  )
const readHold = async ({ id }: Exchange) => {
  await path.store.inventory.releaseExpired(100)
  return (await path.database.query('select 1 from reservations where id = $1', [`hold:${id}`])).length === 1
}

// M1: Mallory pays with a fee that no block takes, and lets it confirm only if the market moves in his favour.
describe('M1: a fixed rate whose payment waits in the mempool', () => {
  test('is kept, with its reserve, for a payment in a block 30 minutes after it was seen', async () => {
    const exchange = await create()
    pay(exchange)
    await passMinutes(exchange, 19)
    await path.runWatchers()
    await passMinutes(exchange, 29)
    expect(await readHold(exchange)).toBe(true)
    await path.mineBlocks(1)
    // It confirms for longer than the promise would last without it.
    await passMinutes(exchange, 60)
    expect(await readHold(exchange)).toBe(true)
    await path.mineBlocks(3)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'fixed', dueUnits: exchange.toUnits })
    await path.expectBalanced()
  })

  test('ends, with its reserve, if the payment is in no block 30 minutes after it was seen', async () => {
    const exchange = await create()
    pay(exchange)
    await passMinutes(exchange, 19)
    await path.runWatchers()
    await passMinutes(exchange, 31)
    expect(await path.readStatus(exchange)).toBe('pending')
    await setCaughtUp(0)
    await path.runJobs()
    expect(await path.readStatus(exchange)).toBe('confirming')
    expect(await readHold(exchange)).toBe(false)
    await path.mineBlocks(4)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'worse' })
  })

  test('ends with the lock if the payment can be replaced or pays too little', async () => {
    path.fakes.btc.behaviour.stopsClock = false
    const exchange = await create()
    pay(exchange)
    await path.runWatchers()
    await passMinutes(exchange, 21)
    expect(await readHold(exchange)).toBe(true)
    await passMinutes(exchange, 30)
    expect(await readHold(exchange)).toBe(false)
    await path.mineBlocks(4)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'worse' })
  })

  test('is not extended by dust in the mempool or in a block', async () => {
    const exchange = await create()
    path.fakes.btc.pay(exchange.deposit.address, 10_000n)
    await path.runWatchers()
    await path.mineBlocks(1)
    await passMinutes(exchange, 51)
    expect(await readHold(exchange)).toBe(false)
  })

  // A deposit in a block of the lock's last second was refunded: others had reserved the coins before it was recorded.
  test('keeps its reserve until all blocks that can pay it are recorded, at most until the exchange expires', async () => {
    const [late, expired, unpaid] = [await create(), await create(), await create()]
    for (const exchange of [late, expired, unpaid]) await passMinutes(exchange, 51)
    await setCaughtUp(32)
    expect(await readHold(late)).toBe(true)
    // The blocks of the lock are recorded, and those in which a payment of its last minutes may be are not.
    await setCaughtUp(5)
    expect(await readHold(late)).toBe(true)
    await passMinutes(expired, 24 * 60)
    await setCaughtUp(26 * 60)
    expect(await readHold(expired)).toBe(false)
    expect([await readHold(late), await readHold(unpaid)]).toEqual([true, true])
    // The deposit came before the lock ended, and is recorded now.
    path.fakes.btc.behaviour.blockTime = Math.floor(Date.now() / 1_000) - 40 * 60
    pay(late)
    await path.runWatchers()
    path.fakes.btc.mine()
    await path.runWatchers()
    path.fakes.btc.behaviour.blockTime = null
    await setCaughtUp(0)
    // Also before a worker looks at the exchange.
    expect([await readHold(late), await readHold(unpaid)]).toEqual([true, false])
    await path.runJobs()
    expect(await readHold(late)).toBe(true)
    await path.mineBlocks(3)
    expect(await path.readExecution(late)).toMatchObject({ rateKind: 'fixed', dueUnits: late.toUnits })
  })

  // M18: what is refunded uses nothing up. Its exchange is `refunded` or `failed` while the rate is still owed to the next deposit.
  test.each([
    ['a test payment that was refunded', 5_000n, 'refunded'],
    ['dust', 2_000n, 'failed'],
  ])('keeps its reserve for the payment in time that follows %s', async (_title, units, status) => {
    const exchange = await create()
    path.fakes.btc.pay(exchange.deposit.address, units)
    await path.mineBlocks(6)
    expect(await path.readStatus(exchange)).toBe(status)
    pay(exchange)
    await path.mineBlocks(1)
    // It confirms for longer than the lock and the inclusion last.
    await passMinutes(exchange, 60)
    await setCaughtUp(0)
    expect(await readHold(exchange)).toBe(true)
    await path.mineBlocks(3)
    expect(await path.readExecution(exchange, 1)).toMatchObject({ rateKind: 'fixed', dueUnits: exchange.toUnits })
    expect(await readHold(exchange)).toBe(false)
  })

  // The database decides about the reserve, and the step about the rate.
  test('keeps its reserve for a payment that is 1 % too small, which gets the rate, and not for one that lacks a unit more', async () => {
    const [enough, less] = [await create(), await create()]
    // 0.04 BTC less 1 %.
    path.fakes.btc.pay(enough.deposit.address, 3_960_000n)
    path.fakes.btc.pay(less.deposit.address, 3_959_999n)
    await path.mineBlocks(1)
    for (const exchange of [enough, less]) await passMinutes(exchange, 60)
    await setCaughtUp(0)
    expect([await readHold(enough), await readHold(less)]).toEqual([true, false])
    await path.mineBlocks(3)
    expect([await path.readExecution(enough), await path.readExecution(less)]).toMatchObject([
      { rateKind: 'fixed' },
      { rateKind: 'worse' },
    ])
  })

  test('ends, with its reserve, when the operator closes the exchange: a later payment in time floats', async () => {
    const exchange = await create({ refund: null })
    path.fakes.btc.pay(exchange.deposit.address, 2_900n)
    await path.mineBlocks(4)
    await path.decide(exchange, 'fail')
    await path.runJobs()
    expect(await path.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'OPERATOR' },
    })
    pay(exchange)
    await path.mineBlocks(1)
    await passMinutes(exchange, 60)
    await setCaughtUp(0)
    expect(await readHold(exchange)).toBe(false)
    await path.mineBlocks(3)
    expect(await path.readExecution(exchange, 1)).toMatchObject({ rateKind: 'floating' })
  })

  // The reserve was kept without a time limit while the partner named no refund address.
  test('ends, with its reserve, although a payment in time waits for the address of its refund', async () => {
    const exchange = await create({ refund: null, maxUnits: 0n })
    setReserve(ETHER / 2n)
    path.fakes.btc.pay(exchange.deposit.address, (3n * COIN) / 25n)
    await path.mineBlocks(6)
    path.books.replace({ reserves })
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' })
    // Another payment in time would still get the rate.
    await setCaughtUp(0)
    expect(await readHold(exchange)).toBe(true)
    await passMinutes(exchange, 60)
    expect(await readHold(exchange)).toBe(false)
    // Converted after all, it takes what is free.
    await path.decide(exchange, 'convert')
    await path.runJobs()
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'mixed' })
    await path.expectBalanced()
  })

  test('expires with its exchange, although it is still in the mempool', async () => {
    const exchange = await create()
    pay(exchange)
    await path.runWatchers()
    await path.runJobs()
    expect(await path.readStatus(exchange)).toBe('confirming')
    await passMinutes(exchange, 25 * 60)
    await path.runJobs()
    expect(await path.readStatus(exchange)).toBe('failed')
    await path.mineBlocks(4)
    expect(await path.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'LATE_DEPOSIT' })
  })
})

// The order counts it as its own, so it must not be promised to somebody else before the order is stored.
test('the reserve of a fixed rate does not end between the look of an order at it and the order', async () => {
  const { pauses } = path.books.current()
  const { venue } = path.dependencies
  const exchange = await create()
  await passMinutes(exchange, 51)
  path.books.replace({ pauses: { networks: new Set(), assets: new Set(['eth@eth'] as const) } })
  pay(exchange)
  await path.mineBlocks(5)
  path.books.replace({ pauses })
  let isHeld = false
  const hasFunds: typeof venue.hasFunds = async (...order) => {
    isHeld = await readHold(exchange)
    return venue.hasFunds(...order)
  }
  await createStepExchange({ ...path.dependencies, venue: { ...venue, hasFunds } })(exchange.id)
  expect(isHeld).toBe(true)
  expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'worse', dueUnits: exchange.toUnits })
  expect(await readHold(exchange)).toBe(false)
  await path.expectBalanced()
})

// M16: our outage is not the customer's delay.
test('M16: does not expire an exchange before the watcher has recorded the blocks of that time', async () => {
  const exchange = await path.createExchange()
  await path.database.query(
    "update cursors set caught_up_at = clock_timestamp() - interval '26 hours' where network = 'btc'",
  )
  await passMinutes(exchange, 25 * 60)
  await path.runJobs()
  expect(await path.readStatus(exchange)).toBe('pending')
  const paidAt = Math.floor(Date.now() / 1_000) - 2 * 3_600
  path.fakes.btc.behaviour.blockTime = paidAt
  path.payDeposit(exchange, COIN / 200n)
  await path.mineBlocks(3)
  path.fakes.btc.behaviour.blockTime = null
  expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })

  const unpaid = await path.createExchange()
  await passMinutes(unpaid, 25 * 60)
  await path.database.query("update cursors set caught_up_at = clock_timestamp() where network = 'btc'")
  await path.runJobs()
  expect(await path.readStatus(unpaid)).toBe('failed')
})

test('M16: a payment that reached a node within the lock, while we did not watch, keeps its fixed rate', async () => {
  const [inTime, late] = [await create(), await create()]
  const payAt = async (exchange: Exchange, minutesAgo: number) => {
    pay(exchange)
    path.fakes.btc.behaviour.seenAt = new Date(Date.now() - minutesAgo * 60_000)
    await path.runWatchers()
  }
  for (const exchange of [inTime, late]) await passMinutes(exchange, 25)
  await payAt(inTime, 6)
  await payAt(late, 4)
  await path.mineBlocks(4)
  expect(await path.readExecution(inTime)).toMatchObject({ rateKind: 'fixed' })
  expect(await path.readExecution(late)).toMatchObject({ rateKind: 'worse' })
})

test('records blocks and other payments although one unconfirmed payment, or the whole mempool, cannot be read', async () => {
  const { chain } = path.fakes.btc
  const fail = () => Promise.reject(new AppError('NETWORK_UNAVAILABLE', 'no usable answer'))
  const [unreadable, readable] = [await create(), await create()]
  const txHash = pay(unreadable)
  pay(readable)
  const inspectPending = (hash: string) =>
    hash === txHash ? fail() : present(chain.reader.inspectPending?.(hash), 'it')
  await path.services.record({ ...chain, reader: { ...chain.reader, inspectPending } })
  const readClocks = async ({ id }: Exchange) =>
    path.database.query('select stops_clock from sightings where exchange_id = $1', [id])
  expect(await readClocks(unreadable)).toEqual([{ stops_clock: null }])
  expect(await readClocks(readable)).toEqual([{ stops_clock: true }])
  await path.database.query("update cursors set caught_up_at = null where network = 'btc'")
  await createRecordBlocks(path.dependencies)({ ...chain, reader: { ...chain.reader, mempool: fail } })
  expect(
    await path.database.query("select 1 from cursors where network = 'btc' and caught_up_at is not null"),
  ).toHaveLength(1)
})
