import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { OutflowLimitError } from '../../../src/exchange/ports/signer.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const readStates = async (exchange: Exchange) => (await fixture.listPayouts(exchange)).map(({ state }) => state)

/** Pays an exchange to ether and one to bitcoin: one payout on each network. */
async function payBoth(): Promise<{ toEther: Exchange; toBitcoin: Exchange }> {
  const toEther = await fixture.createExchange()
  const toBitcoin = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  fixture.payDeposit(toEther, SMALL)
  fixture.payDeposit(toBitcoin, ETHER / 10n)
  return { toEther, toBitcoin }
}

describe('a pause stops the signatures in its scope and no others (I-25)', () => {
  test.each([
    ['the network', 'network:eth'],
    ["the network's payouts", 'payouts:eth'],
    ['the asset', 'asset:eth@eth'],
  ])('of %s', async (_scopeName, scope) => {
    await fixture.store.pauses.pause(scope, 'a test', 'test')
    const { toEther, toBitcoin } = await payBoth()
    await fixture.mineBlocks(6)
    expect(await readStates(toEther)).toEqual(['reserved'])
    expect(await fixture.readStatus(toBitcoin)).toBe('finished')
    await fixture.store.pauses.resume(scope)
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(toEther)).toBe('finished')
  })

  test.each([
    ['the partner', `partner:${partnerId}`],
    ['all payouts', 'payouts:all'],
    ['everything', 'all'],
  ])('of %s, on every network', async (_scopeName, scope) => {
    await fixture.store.pauses.pause(scope, 'a test', 'test')
    const { toEther, toBitcoin } = await payBoth()
    await fixture.mineBlocks(5)
    expect([await readStates(toEther), await readStates(toBitcoin)]).toEqual([['reserved'], ['reserved']])
    await fixture.store.pauses.resume(scope)
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect([await fixture.readStatus(toEther), await fixture.readStatus(toBitcoin)]).toEqual(['finished', 'finished'])
  })

  test('of another partner or another asset of the network changes nothing', async () => {
    const others = ['partner:018f2b1c-0000-7000-8000-0000000000ff', `asset:${usdt.asset.id}`]
    for (const scope of others) await fixture.store.pauses.pause(scope, 'a test', 'test')
    const { toEther, toBitcoin } = await payBoth()
    await fixture.mineBlocks(6)
    expect([await fixture.readStatus(toEther), await fixture.readStatus(toBitcoin)]).toEqual(['finished', 'finished'])
    for (const scope of others) await fixture.store.pauses.resume(scope)
  })

  test('stops replacements: the same bytes are rebroadcast, and no others are signed', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.store.pauses.pause('payouts:eth', 'a test', 'test')
    await fixture.mineBlocks(2)
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.clearHolds()
    await fixture.services.dispatch('eth')
    expect(await readStates(exchange)).toEqual(['signed'])
    const [{ id = '' } = {}] = await fixture.database.query<{ id: string }>(
      'select transaction_id as id from payouts where exchange_id = $1',
      [exchange.id],
    )
    const listAttempts = () => fixture.database.query('select 1 from attempts where transaction_id = $1', [id])
    await fixture.services.advance(id)
    await fixture.database.query(
      "update attempts set created_at = created_at - interval '1 day' where transaction_id = $1",
      [id],
    )
    await fixture.store.pauses.pause('payouts:eth', 'a test', 'test')
    await fixture.services.advance(id)
    expect(await listAttempts()).toHaveLength(1)
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.services.advance(id)
    expect(await listAttempts()).toHaveLength(2)
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

// M13: one payout of a paused partner blocked every later nonce of its network. cancels.test.ts: one without its deposit.
describe('M13: a stuck transaction that later nonces wait for gets a higher fee', () => {
  test.each([
    ['while its partner is paused', `partner:${partnerId}`],
    ['while its asset is paused', 'asset:eth@eth'],
  ])('%s', async (_title, scope) => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.mineBlocks(2)
    expect(await readStates(exchange)).toEqual(['signed'])
    const [{ id = '' } = {}] = await fixture.database.query<{ id: string }>(
      'select transaction_id as id from payouts where exchange_id = $1',
      [exchange.id],
    )
    await fixture.store.pauses.pause(scope, 'a test', 'test')
    await fixture.database.query(
      "update attempts set created_at = created_at - interval '1 day' where transaction_id = $1",
      [id],
    )
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.services.advance(id)
    expect(await fixture.database.query('select 1 from attempts where transaction_id = $1', [id])).toHaveLength(2)
    await fixture.store.pauses.resume(scope)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })
})

test('M13: a batch of bitcoin gets a higher fee although the deposit of one of its payouts left the chain', async () => {
  const { fakes, services, store, database } = fixture
  await store.pauses.pause('payouts:btc', 'collect the payouts', 'test')
  const order = { from: eth, to: btc, fromUnits: ETHER / 10n }
  const [lost, other] = [await fixture.createExchange(order), await fixture.createExchange(order)]
  const hash = fixture.payDeposit(lost, ETHER / 10n, 'somebody')
  fixture.payDeposit(other, ETHER / 10n, 'somebody')
  await fixture.mineBlocks(4)
  await store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  fakes.btc.behaviour.dropsBroadcasts = true
  await services.dispatch('btc')
  const [batch, ...others] = await database.query<{ id: string }>(
    'select distinct transaction_id as id from payouts where exchange_id = any($1::uuid[])',
    [[lost.id, other.id]],
  )
  expect(others).toEqual([])
  const id = batch?.id ?? ''
  await services.advance(id)
  await database.query("update attempts set created_at = created_at - interval '1 day' where transaction_id = $1", [id])
  const [deposit] = fakes.eth.listPayments(lost.deposit.address)
  fakes.eth.reorg(5, (txHash) => txHash === hash)
  await fixture.runWatchers()
  fakes.btc.behaviour.dropsBroadcasts = false
  await services.advance(id)
  expect(await database.query('select 1 from attempts where transaction_id = $1', [id])).toHaveLength(2)
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(other)).toBe('finished')
  fakes.eth.resubmit(deposit)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(lost)).toBe('finished')
  for (const { recipient } of [lost, other]) expect(fakes.btc.listPayments(recipient?.address ?? '')).toHaveLength(1)
})

describe('the limit of the signer', () => {
  test.each([
    ['hour' as const, null, 'signer-limit'],
    ['transaction' as const, 'LIMIT', 'payout'],
  ])('of one %s holds the payout, raises an alarm and loses nothing', async (window, attention, alarm) => {
    const watch = createWatchOutflow(fixture.dependencies)
    const { sign } = fixture.signer
    fixture.signer.sign = async () => {
      throw new OutflowLimitError('eth@eth', window)
    }
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention }])
    await watch()
    expect(await fixture.listAlarmKinds()).toContain(alarm)
    expect(
      await fixture.database.query(
        'select 1 from outflows o join payouts p on p.id = o.payout_id where p.exchange_id = $1',
        [exchange.id],
      ),
    ).toEqual([])
    fixture.signer.sign = sign
    if (attention !== null) await fixture.decide(exchange, 'release')
    await fixture.clearHolds()
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
    await watch()
    expect(await fixture.listAlarmKinds()).not.toContain(alarm)
  })

  // Only the outflow of the oldest payout was released.
  test('of an hour leaves no payout of a batch counted that is not signed', async () => {
    const { database, store, services, signer } = fixture
    const ids = await Promise.all(
      ['first', 'second'].map((address) => fixture.insertPayout('btc', COIN / 100n, address, 'withdrawal')),
    )
    const readOutflow = async () => (await store.outflow.list(100)).map(({ scope, hour }) => [scope, hour])
    const before = await readOutflow()
    const { sign } = signer
    const sizes: number[] = []
    signer.sign = async (intent) => {
      sizes.push(intent.family === 'bitcoin' ? intent.pays.length : 0)
      // The batch, its oldest payout alone, and then the node fails.
      if (sizes.length > 2) throw new AppError('NETWORK_UNAVAILABLE', 'a test')
      throw new OutflowLimitError('btc@btc', 'hour')
    }
    await expect(services.dispatch('btc')).rejects.toThrow('a test')
    signer.sign = sign
    expect(sizes).toEqual([2, 1, 1])
    expect(await readOutflow()).toEqual(before)
    await database.query("update payouts set state = 'void' where id = any($1::uuid[])", [ids])
  })
})
