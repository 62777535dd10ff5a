import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * The effects of a reorganisation on the two legs of one exchange. The payment between the legs goes to an address of ours, so
 * no money has left the app at that point.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const createPrivate = (rest: Parameters<typeof fixture.createExchange>[0] = {}) =>
  fixture.createExchange({ via: ltc, plan, ...rest })
const expireExchange = (exchange: Exchange) =>
  fixture.database.query(
    `with caught_up as (update cursors set caught_up_at = clock_timestamp()),
       due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1)
     update exchanges set expires_at = created_at + interval '1 millisecond' where id = $1`,
    [exchange.id],
  )
const listStatuses = async (exchange: Exchange) =>
  (await fixture.listExecutions(exchange)).map(
    ({ leg, status, deposit }) => `${leg} ${status}${deposit.isBookedAsLoss ? ' lost' : ''}`,
  )
/** The attempts of the payment between the legs, oldest first. */
const listAttempts = (exchange: Exchange) =>
  fixture.database.query<{ tx_hash: string; raw: string }>(
    `select a.tx_hash, a.raw from attempts a join payouts p on p.transaction_id = a.transaction_id
     where p.exchange_id = $1 and p.leg = 0 order by a.id`,
    [exchange.id],
  )

/** The payment between the legs has a replacement with a higher fee, and its first attempt is mined. */
async function createReplaced(rest: Parameters<typeof createPrivate>[0] = {}) {
  const exchange = await createPrivate(rest)
  fixture.payDeposit(exchange, SMALL)
  fixture.fakes.btc.mine(2)
  fixture.fakes.ltc.behaviour.dropsBroadcasts = true
  await fixture.runWorkers(2)
  await fixture.database.query("update attempts set created_at = created_at - interval '1 day'")
  await fixture.runWorkers(2)
  fixture.fakes.ltc.behaviour.dropsBroadcasts = false
  const [first, second] = await listAttempts(exchange)
  if (!first || !second) throw new Error('the payment between the legs has no replacement')
  await fixture.fakes.ltc.chain.sender.broadcast(first.raw)
  fixture.fakes.ltc.mine()
  return { exchange, first, second }
}

describe('a replaced payment between the legs', () => {
  test('funds the second leg once if a reorganisation confirms the other attempt', async () => {
    const { exchange, first, second } = await createReplaced()
    await fixture.mineBlocksUntil(async () => fixture.countEtherPayments(exchange) === 1)
    fixture.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await fixture.fakes.ltc.chain.sender.broadcast(second.raw)
    await fixture.mineBlocks(16)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect((await fixture.listExecutions(exchange))[1]?.payinHash).toBe(second.tx_hash)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('is reversed and credited again if a reorganisation confirms the other attempt before the second payout', async () => {
    await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
    const { exchange, first, second } = await createReplaced()
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[1]?.payout?.state === 'reserved')
    fixture.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await fixture.fakes.ltc.chain.sender.broadcast(second.raw)
    await fixture.mineBlocks(4)
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.clearHolds()
    await fixture.mineBlocks(16)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
  })
})

describe('a source deposit that leaves its chain between the legs', () => {
  test('and is mined again before the next step: no partner is credited until it has its confirmations again', async () => {
    const book = () => makeBook({ ...market, at: Date.now() + 3_600_000 })
    const exchange = await createPrivate({ recipient: null })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await listStatuses(exchange)).length === 2)
    fixture.books.replace({ ...book(), pauses: { networks: new Set(['eth']), assets: new Set() } })
    await fixture.mineBlocks(8)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 exchanging'])
    fixture.fakes.btc.reorg(14)
    await fixture.services.record(fixture.fakes.btc.chain)
    fixture.fakes.btc.mine()
    await fixture.services.record(fixture.fakes.btc.chain)
    fixture.books.replace(book())
    await fixture.services.step(exchange.id)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 exchanging'])
    await fixture.mineBlocks(1)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
  })

  const removeDeposit = async () => {
    const exchange = await createPrivate({ plan: { ...plan, delaysMs: [0, 3_600_000] } })
    const hash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[1]?.payout?.state === 'reserved')
    const [payment] = fixture.fakes.btc.listPayments(exchange.deposit.address)
    fixture.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await fixture.runWorkers(2)
    await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
    await fixture.mineBlocks(4)
    return { exchange, payment }
  }

  test('holds the second leg, which continues when the deposit returns', async () => {
    const { exchange, payment } = await removeDeposit()
    expect(fixture.countEtherPayments(exchange)).toBe(0)
    expect(await listStatuses(exchange)).toEqual(['0 finished lost', '1 verifying'])
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ reason: 'DEPOSIT_VANISHED' })
    expect(await fixture.listAlarmKinds()).toContain('reorg')
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(14)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('and does not return can be failed by the operator, and no money has left the app', async () => {
    const { exchange } = await removeDeposit()
    await fixture.decide(exchange, 'fail')
    await fixture.mineBlocks(6)
    expect(await listStatuses(exchange)).toEqual(['0 finished lost', '1 failed'])
    expect(await fixture.readStatus(exchange)).toBe('failed')
    expect(fixture.countEtherPayments(exchange)).toBe(0)
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toEqual([])
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })

  test('causes no refund after the stall limit', async () => {
    const exchange = await createPrivate({ plan: { ...plan, stallMs: 2_000, delaysMs: [0, 0] } })
    await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
    const hash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange)).length === 2)
    fixture.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await fixture.mineBlocks(4)
    await expect
      .poll(async () => {
        await fixture.mineBlocks(1)
        return (await fixture.readExecution(exchange, 1)).status
      }, PATIENCE)
      .toBe('verifying')
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.mineBlocks(8)
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toEqual([])
    expect(fixture.countEtherPayments(exchange)).toBe(0)
  })
})

describe('the second leg', () => {
  test('is paid although the exchange expires while the payment between the legs is in no block', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange)).length === 2)
    await expireExchange(exchange)
    const [payment] = await listAttempts(exchange)
    fixture.fakes.ltc.reorg(2, (txHash) => txHash === payment?.tx_hash)
    fixture.fakes.ltc.behaviour.dropsBroadcasts = true
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).not.toBe('failed')
    fixture.fakes.ltc.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(16)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('is paid although another deposit has finished the exchange', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange)).length === 2)
    const [payment] = await listAttempts(exchange)
    fixture.fakes.ltc.behaviour.dropsBroadcasts = true
    fixture.fakes.ltc.reorg(3, (txHash) => txHash === payment?.tx_hash)
    await fixture.runWorkers()
    expect((await listStatuses(exchange))[1]).toBe('1 pending')
    // A terminal status of the exchange, as another deposit sets it. Without the other deposit the status does not follow from
    // the executions.
    await fixture.database.transaction(async (tx) => {
      await tx.query('alter table exchanges disable trigger exchange_status')
      await tx.query("update exchanges set status = 'finished' where id = $1", [exchange.id])
      await tx.query('alter table exchanges enable trigger exchange_status')
    })
    fixture.fakes.ltc.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(16)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })
})

describe('a second leg whose payment was invalidated', () => {
  /** The payment between the legs was in a block, and another transaction has spent its input for good. */
  const createInvalidated = async () => {
    const { ltc: chain } = fixture.fakes
    // Each test spends the wallet's output elsewhere.
    await fixture.fundWallets({ ltc: 10_000n * COIN })
    const exchange = await createPrivate()
    const depositHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange)).length === 2)
    const [payment] = await fixture.database.query<{ hash: string; key: string }>(
      `select a.tx_hash as hash, a.conflict_key as key from attempts a join payouts p on p.transaction_id = a.transaction_id
       where p.exchange_id = $1 and p.leg = 0`,
      [exchange.id],
    )
    // The payment is not signed again.
    await fixture.store.pauses.pause('payouts:ltc', 'test', 'test')
    chain.behaviour.dropsBroadcasts = true
    chain.reorg(3, (txHash) => txHash === payment?.hash)
    chain.addConflict(payment?.key ?? '')
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[0]?.payout?.state === 'reserved')
    expect(await listStatuses(exchange)).toEqual(['0 sending', '1 pending'])
    chain.behaviour.dropsBroadcasts = false
    return { exchange, depositHash }
  }
  const resume = async () => {
    await fixture.store.pauses.resume('payouts:ltc')
    await fixture.mineBlocks(2)
  }

  test('fails with the first leg, whose deposit left the chain and stayed away', async () => {
    const { exchange, depositHash } = await createInvalidated()
    const { block } = (await fixture.readExecution(exchange)).deposit
    const { height } = await fixture.fakes.btc.chain.reader.head()
    fixture.fakes.btc.reorg(height - (block?.height ?? height) + 1, (txHash) => txHash === depositHash)
    await fixture.mineBlocks(2)
    expect(await listStatuses(exchange)).toEqual(['0 verifying', '1 pending'])
    await expireExchange(exchange)
    await fixture.runWorkers()
    await fixture.services.step(exchange.id)
    expect(await listStatuses(exchange)).toEqual(['0 failed', '1 failed'])
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ reason: 'DEPOSIT_VANISHED' })
    expect(await fixture.readStatus(exchange)).toBe('failed')
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    await resume()
  })

  test('fails when the operator has refunded the first leg, and the exchange is refunded', async () => {
    const { exchange } = await createInvalidated()
    await fixture.database.query(
      "update payouts set attention = 'REVERTED' where exchange_id = $1 and state = 'reserved'",
      [exchange.id],
    )
    await fixture.services.step(exchange.id)
    await fixture.decide(exchange, 'refund')
    await fixture.services.step(exchange.id)
    await fixture.mineBlocks(6)
    await fixture.services.step(exchange.id)
    expect(await listStatuses(exchange)).toEqual(['0 refunded', '1 failed'])
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    await resume()
  })

  test('is funded by the payment of the first leg after its deposit has returned, and is paid', async () => {
    const { exchange, depositHash } = await createInvalidated()
    const [payment] = fixture.fakes.btc.listPayments(exchange.deposit.address)
    const { block } = (await fixture.readExecution(exchange)).deposit
    const { height } = await fixture.fakes.btc.chain.reader.head()
    fixture.fakes.btc.reorg(height - (block?.height ?? height) + 1, (txHash) => txHash === depositHash)
    await fixture.mineBlocks(2)
    expect(await listStatuses(exchange)).toEqual(['0 verifying', '1 pending'])
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(6)
    await resume()
    await fixture.clearHolds()
    for (let n = 0; n < 16; n++) {
      await fixture.mineBlocks(1)
      await fixture.services.step(exchange.id)
    }
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('waits while the payment is queued again, and is paid', async () => {
    const { exchange } = await createInvalidated()
    await expireExchange(exchange)
    await fixture.mineBlocks(2)
    expect(await listStatuses(exchange)).toEqual(['0 sending', '1 pending'])
    await resume()
    await fixture.clearHolds()
    await fixture.mineBlocks(16)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })
})

describe('a refund in the source currency', () => {
  test('that is proven invalid is reserved again, signed again and arrives once', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange)).length === 2)
    const reserves = { ...market.reserves, 'eth@eth': 10n ** 12n }
    fixture.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
    fixture.fakes.btc.behaviour.dropsBroadcasts = true
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[1]?.payout?.state === 'signed')
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    const [refund] = await fixture.database.query<{ key: string; units: string }>(
      `select t.conflict_key as key, p.units from transactions t join payouts p on p.transaction_id = t.id
       where p.exchange_id = $1 and p.purpose = 'refund'`,
      [exchange.id],
    )
    const readPromised = async () =>
      BigInt(
        (
          await fixture.database.query<{ units: string }>(
            "select promised as units from inventory where asset_id = 'btc@btc'",
          )
        )[0]?.units ?? 0,
      )
    const promisedBefore = await readPromised()
    // A pause stops the next signature, so that the test sees the reservation.
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    fixture.fakes.btc.addConflict(refund?.key ?? '')
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[1]?.payout?.state === 'reserved')
    expect(await readPromised()).toBe(promisedBefore + BigInt(refund?.units ?? 0))
    fixture.fakes.btc.behaviour.dropsBroadcasts = false
    await fixture.store.pauses.resume('payouts:btc')
    await fixture.database.query("delete from pauses where scope = 'payouts:btc'")
    await fixture.clearHolds()
    await fixture.mineBlocks(8)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 refunded'])
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
    expect(await readPromised()).toBe(promisedBefore)
  })
})
