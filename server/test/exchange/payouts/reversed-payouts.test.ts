import { afterEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>
const word = { actor: 'anna', reason: 'looked at it' }
const SMALL = COIN / 200n
/** Deeper than the finality of both chains, and all that was paid with it. */
const DEEP = 16

const fixtures: MoneyPath[] = []
async function start(): Promise<MoneyPath> {
  const fixture = await startMoneyPath()
  fixtures.push(fixture)
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
  await fixture.blocks(DEEP + 4)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.balanced()
    await fixture.close()
  }
})

const states = async ({ database }: MoneyPath) =>
  (await database.query<{ state: string }>('select state from transactions order by created_at')).map(
    ({ state }) => state,
  )
const hashes = ({ database }: MoneyPath) =>
  database
    .query<{ tx_hash: string }>('select tx_hash from attempts order by id')
    .then((rows) => rows.map(({ tx_hash }) => tx_hash))
const view = async ({ store, database }: MoneyPath, exchange: Exchange) => {
  const [row] = await database.query<{ status: string; reason: string | null }>(
    'select status, reason from exchanges where id = $1',
    [exchange.id],
  )
  const seen = await store.exchanges.find(exchange.partnerId, exchange.id)
  return { ...row, item: seen?.executions[0] }
}
const lostFor = async ({ database }: MoneyPath) =>
  (
    await database.query<{ units: string }>(
      "select -sum(units) as units from balances where account like 'liability:lost:%' having sum(units) <> 0",
    )
  )[0]?.units ?? '0'

/** An exchange whose payout in ether is final. */
async function finished(fixture: MoneyPath): Promise<{ exchange: Exchange; paid: () => number; nonce: number }> {
  const exchange = await fixture.order()
  fixture.deposit(exchange, SMALL)
  await fixture.blocks(6)
  expect(await fixture.status(exchange)).toBe('finished')
  await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await fixture.blocks(10)
  expect((await states(fixture)).at(-1)).toBe('final')
  const [last] = await fixture.database.query<{ conflict_key: string }>(
    'select conflict_key from transactions order by created_at desc limit 1',
  )
  return {
    exchange,
    paid: () => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length,
    nonce: Number(last?.conflict_key.split(':')[1]),
  }
}

/** The chain takes the payout back, and the wallet's nonce is used by another transaction. */
async function lose(fixture: MoneyPath, nonce: number): Promise<void> {
  const orphaned = (await hashes(fixture)).at(-1)
  fixture.fakes.eth.reorg(DEEP, (txHash) => txHash === orphaned)
  fixture.fakes.eth.steal(`eth-hot:${nonce}`)
  await fixture.blocks(14)
}

describe('a final payout that a deep reorganisation takes away', () => {
  test('is broadcast again with the same bytes, and the partner sees it meanwhile', async () => {
    const fixture = await start()
    const { exchange, paid } = await finished(fixture)
    const before = await view(fixture, exchange)
    const bytes = await hashes(fixture)
    fixture.fakes.eth.reorg(DEEP, (txHash) => txHash === bytes.at(-1))
    fixture.fakes.eth.knobs.deaf = true
    await fixture.turn()
    expect(paid()).toBe(0)
    expect((await states(fixture)).at(-1)).toBe('confirmed')
    expect(await view(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED' },
    })
    expect(await fixture.alarms()).toContain('orphaned')
    fixture.fakes.eth.knobs.deaf = false
    await fixture.blocks(14)
    expect(paid()).toBe(1)
    expect(await hashes(fixture)).toEqual(bytes)
    expect((await states(fixture)).at(-1)).toBe('final')
    expect(await view(fixture, exchange)).toEqual(before)
    expect(await fixture.alarms()).not.toContain('orphaned')
    expect((await fixture.events(exchange)).slice(-2)).toEqual(['payout vanished', 'payout is there'])
  })

  test('and whose nonce is used by another is paid again by a person, once', async () => {
    const fixture = await start()
    const walletBefore = await fixture.wallet('eth@eth')
    const { exchange, paid, nonce } = await finished(fixture)
    const before = await view(fixture, exchange)
    const [payout] = await fixture.payouts(exchange)
    await lose(fixture, nonce)
    await fixture.blocks(10)
    // The ledger equals the chain, and nothing is paid automatically.
    expect(paid()).toBe(0)
    expect(await fixture.wallet('eth@eth')).toBe(walletBefore)
    expect(await lostFor(fixture)).toBe(payout?.units)
    expect(await fixture.payouts(exchange)).toMatchObject([{ id: payout?.id, state: 'reserved', attention: 'LOST' }])
    expect(await view(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED', payoutHash: null, sentUnits: null },
    })
    expect(await fixture.store.operator.listHeldPayouts(10)).toMatchObject([
      { id: payout?.id, attention: 'LOST', lost: true },
    ])
    expect(await fixture.alarms()).toEqual(['invalid', 'reversed'])
    await fixture.balanced()

    const operate = createOperatePayouts(fixture.store)
    await operate.release(payout?.id ?? '', word)
    await expect(operate.release(payout?.id ?? '', word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await fixture.blocks(6)
    expect(paid()).toBe(1)
    const after = await view(fixture, exchange)
    expect(after).toMatchObject({ status: 'finished', reason: null, item: { reason: null } })
    expect(after.item?.sentUnits).toBe(before.item?.sentUnits)
    expect(after.item?.payoutHash).toBe((await hashes(fixture)).at(-1))
    expect(after.item?.payoutHash).not.toBe(before.item?.payoutHash)
    expect(await lostFor(fixture)).toBe('0')
    expect(await fixture.alarms()).toEqual(['invalid'])
    await expect(operate.release(payout?.id ?? '', word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })

    // And once more: undone and redone as exactly.
    await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await fixture.blocks(10)
    await lose(fixture, nonce + 1)
    expect(await lostFor(fixture)).toBe(payout?.units)
    expect(await fixture.wallet('eth@eth')).toBe(walletBefore)
    await operate.release(payout?.id ?? '', word)
    await fixture.blocks(6)
    expect(paid()).toBe(1)
    expect(await lostFor(fixture)).toBe('0')
  })

  test('and that somebody paid by hand is closed by a person, and never paid', async () => {
    const fixture = await start()
    const { exchange, paid, nonce } = await finished(fixture)
    const [payout] = await fixture.payouts(exchange)
    const capital = await fixture.store.ledger.balance('equity:capital', 'eth@eth')
    await lose(fixture, nonce)
    const operate = createOperatePayouts(fixture.store)
    await operate.drop(payout?.id ?? '', word)
    await fixture.blocks(6)
    expect(paid()).toBe(0)
    expect(await lostFor(fixture)).toBe('0')
    expect(capital - (await fixture.store.ledger.balance('equity:capital', 'eth@eth'))).toBe(BigInt(payout?.units ?? 0))
    expect(await view(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'OPERATOR',
      item: { reason: 'OPERATOR', payoutHash: null, sentUnits: null },
    })
    expect(await fixture.store.operator.listHeldPayouts(10)).toEqual([])
    expect((await fixture.database.query('select promised from inventory where promised <> 0')).length).toBe(0)
    expect(await fixture.alarms()).toEqual(['invalid'])
  })

  test('and is mined again and fails there is not paid, and costs what it cost', async () => {
    const fixture = await start()
    const { exchange, paid } = await finished(fixture)
    const fees = () => fixture.store.ledger.balance('expense:network-fee', 'eth@eth')
    const cost = await fees()
    fixture.fakes.eth.knobs.reverts = true
    fixture.fakes.eth.reorg(DEEP)
    await fixture.blocks(1)
    fixture.fakes.eth.knobs.reverts = false
    await fixture.blocks(14)
    expect(paid()).toBe(0)
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LOST' }])
    expect(await fees()).toBe(cost)
    expect(await fixture.wallet('eth@eth')).toBe(fixture.fakes.eth.held(fixture.fakes.eth.chain.addresses.hot(), null))
  })
})

test('a refund that is lost keeps its reason, and its exchange says what is missing', async () => {
  const fixture = await start()
  const exchange = await fixture.order()
  fixture.deposit(exchange, 2_900n)
  await fixture.blocks(6)
  const before = await view(fixture, exchange)
  expect(before).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  const [last] = await fixture.database.query<{ conflict_key: string }>('select conflict_key from transactions')
  const orphaned = (await hashes(fixture)).at(-1)
  fixture.fakes.btc.reorg(4, (txHash) => txHash === orphaned)
  fixture.fakes.btc.steal(last?.conflict_key ?? '')
  await fixture.blocks(14)
  expect(await view(fixture, exchange)).toMatchObject({ status: 'refunded', reason: 'PAYOUT_VANISHED' })
  const [payout] = await fixture.store.operator.listHeldPayouts(10)
  await fixture.store.pauses.resume('payouts:btc')
  fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
  await fixture.blocks(4)
  expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
  await createOperatePayouts(fixture.store).release(payout?.id ?? '', word)
  await fixture.blocks(6)
  expect(await view(fixture, exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
})

test('of a batch in bitcoin each payout waits for a word of its own', async () => {
  const fixture = await start()
  const orders = [
    await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 5n }),
    await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 5n }),
  ]
  for (const { deposit } of orders) fixture.fakes.eth.pay(deposit.address, ETHER / 5n)
  await fixture.blocks(6)
  const [transaction, ...others] = await fixture.database.query<{ conflict_key: string }>(
    "select conflict_key from transactions where network = 'btc'",
  )
  expect(others).toEqual([])
  await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await fixture.blocks(8)
  const [bytes] = await fixture.database.query<{ tx_hash: string }>(
    "select tx_hash from attempts where network = 'btc'",
  )
  fixture.fakes.btc.reorg(DEEP, (txHash) => txHash === bytes?.tx_hash)
  fixture.fakes.btc.steal(transaction?.conflict_key ?? '')
  await fixture.blocks(14)
  const held = await fixture.store.operator.listHeldPayouts(10)
  expect(held.map(({ attention }) => attention)).toEqual(['LOST', 'LOST'])
  // The coin was taken with our own key: everything stands still until a person has looked.
  expect(await fixture.alarms()).toContain('intrusion')
  await fixture.store.pauses.resume('payouts:btc')
  fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
  await fixture.blocks(4)
  const counts = () => orders.map(({ recipient }) => fixture.fakes.btc.paidTo(recipient?.address ?? '').length)
  expect(counts()).toEqual([0, 0])
  const operate = createOperatePayouts(fixture.store)
  const first = held.find(({ exchangeId }) => exchangeId === orders[0]?.id)
  await operate.release(first?.id ?? '', word)
  await fixture.blocks(4)
  expect(counts()).toEqual([1, 0])
  await operate.release(held.find(({ id }) => id !== first?.id)?.id ?? '', word)
  await fixture.blocks(4)
  expect(counts()).toEqual([1, 1])
})

test('a reversed sweep is planned again and arrives once', async () => {
  const fixture = await start()
  const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 10n })
  fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
  await fixture.blocks(12)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.blocks(5)
  const held = await fixture.wallet('eth@eth')
  const orphaned = (await hashes(fixture)).at(-1)
  fixture.fakes.eth.reorg(4, (txHash) => txHash === orphaned)
  fixture.fakes.eth.steal(`${exchange.deposit.address}:0`)
  await fixture.blocks(14)
  expect(await fixture.store.operator.listHeldPayouts(10)).toEqual([])
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.blocks(5)
  const sweeps = await fixture.database.query("select state from payouts where purpose = 'sweep' order by created_at")
  expect(sweeps).toEqual([{ state: 'void' }, { state: 'confirmed' }])
  expect(await fixture.wallet('eth@eth')).toBe(held)
})
