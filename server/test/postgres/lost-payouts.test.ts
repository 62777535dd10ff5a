import { afterEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, startSpine } from './spine.ts'

type Spine = Awaited<ReturnType<typeof startSpine>>
const word = { actor: 'anna', reason: 'looked at it' }
const SMALL = COIN / 200n
/** Deeper than the finality of both chains, and all that was paid with it. */
const DEEP = 16

const spines: Spine[] = []
async function start(): Promise<Spine> {
  const spine = await startSpine()
  spines.push(spine)
  await spine.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
  await spine.blocks(DEEP + 4)
  return spine
}
afterEach(async () => {
  for (const spine of spines.splice(0)) {
    await spine.balanced()
    await spine.close()
  }
})

const states = async ({ database }: Spine) =>
  (await database.query<{ state: string }>('select state from transactions order by created_at')).map(
    ({ state }) => state,
  )
const hashes = ({ database }: Spine) =>
  database
    .query<{ tx_hash: string }>('select tx_hash from attempts order by id')
    .then((rows) => rows.map(({ tx_hash }) => tx_hash))
const view = async ({ store, database }: Spine, exchange: Exchange) => {
  const [row] = await database.query<{ status: string; reason: string | null }>(
    'select status, reason from exchanges where id = $1',
    [exchange.id],
  )
  const seen = await store.exchanges.find(exchange.partnerId, exchange.id)
  return { ...row, item: seen?.executions[0] }
}
const lostFor = async ({ database }: Spine) =>
  (
    await database.query<{ units: string }>(
      "select -sum(units) as units from balances where account like 'liability:lost:%' having sum(units) <> 0",
    )
  )[0]?.units ?? '0'

/** An exchange whose payout in ether is final. */
async function finished(spine: Spine): Promise<{ exchange: Exchange; paid: () => number; nonce: number }> {
  const exchange = await spine.order()
  spine.deposit(exchange, SMALL)
  await spine.blocks(6)
  expect(await spine.status(exchange)).toBe('finished')
  await spine.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await spine.blocks(10)
  expect((await states(spine)).at(-1)).toBe('final')
  const [last] = await spine.database.query<{ conflict_key: string }>(
    'select conflict_key from transactions order by created_at desc limit 1',
  )
  return {
    exchange,
    paid: () => spine.fakes.eth.paidTo(exchange.recipient?.address ?? '').length,
    nonce: Number(last?.conflict_key.split(':')[1]),
  }
}

/** The chain takes the payout back, and the wallet's nonce is used by another transaction. */
async function lose(spine: Spine, nonce: number): Promise<void> {
  const gone = (await hashes(spine)).at(-1)
  spine.fakes.eth.reorg(DEEP, (txHash) => txHash === gone)
  spine.fakes.eth.steal(`eth-hot:${nonce}`)
  await spine.blocks(14)
}

describe('a final payout that a deep reorganisation takes away', () => {
  test('is offered again in the same bytes, and the partner is told meanwhile', async () => {
    const spine = await start()
    const { exchange, paid } = await finished(spine)
    const before = await view(spine, exchange)
    const bytes = await hashes(spine)
    spine.fakes.eth.reorg(DEEP, (txHash) => txHash === bytes.at(-1))
    spine.fakes.eth.knobs.deaf = true
    await spine.turn()
    expect(paid()).toBe(0)
    expect((await states(spine)).at(-1)).toBe('confirmed')
    expect(await view(spine, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED' },
    })
    expect(await spine.alarms()).toContain('gone')
    spine.fakes.eth.knobs.deaf = false
    await spine.blocks(14)
    expect(paid()).toBe(1)
    expect(await hashes(spine)).toEqual(bytes)
    expect((await states(spine)).at(-1)).toBe('final')
    expect(await view(spine, exchange)).toEqual(before)
    expect(await spine.alarms()).not.toContain('gone')
    expect((await spine.events(exchange)).slice(-2)).toEqual(['payout vanished', 'payout is there'])
  })

  test('and whose nonce is used by another is paid again by a person, once', async () => {
    const spine = await start()
    const walletBefore = await spine.wallet('eth@eth')
    const { exchange, paid, nonce } = await finished(spine)
    const before = await view(spine, exchange)
    const [payout] = await spine.payouts(exchange)
    await lose(spine, nonce)
    await spine.blocks(10)
    // The books say what the chain says, and nothing is paid by itself.
    expect(paid()).toBe(0)
    expect(await spine.wallet('eth@eth')).toBe(walletBefore)
    expect(await lostFor(spine)).toBe(payout?.units)
    expect(await spine.payouts(exchange)).toMatchObject([{ id: payout?.id, state: 'reserved', attention: 'LOST' }])
    expect(await view(spine, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED', payoutHash: null, sentUnits: null },
    })
    expect(await spine.store.operator.held(10)).toMatchObject([{ id: payout?.id, attention: 'LOST', lost: true }])
    expect(await spine.alarms()).toEqual(['dead', 'lost'])
    await spine.balanced()

    const operate = createOperatePayouts(spine.store)
    await operate.release(payout?.id ?? '', word)
    await expect(operate.release(payout?.id ?? '', word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await spine.blocks(6)
    expect(paid()).toBe(1)
    const after = await view(spine, exchange)
    expect(after).toMatchObject({ status: 'finished', reason: null, item: { reason: null } })
    expect(after.item?.sentUnits).toBe(before.item?.sentUnits)
    expect(after.item?.payoutHash).toBe((await hashes(spine)).at(-1))
    expect(after.item?.payoutHash).not.toBe(before.item?.payoutHash)
    expect(await lostFor(spine)).toBe('0')
    expect(await spine.alarms()).toEqual(['dead'])
    await expect(operate.release(payout?.id ?? '', word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })

    // And once more: undone and redone as exactly.
    await spine.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await spine.blocks(10)
    await lose(spine, nonce + 1)
    expect(await lostFor(spine)).toBe(payout?.units)
    expect(await spine.wallet('eth@eth')).toBe(walletBefore)
    await operate.release(payout?.id ?? '', word)
    await spine.blocks(6)
    expect(paid()).toBe(1)
    expect(await lostFor(spine)).toBe('0')
  })

  test('and that somebody paid by hand is closed by a person, and never paid', async () => {
    const spine = await start()
    const { exchange, paid, nonce } = await finished(spine)
    const [payout] = await spine.payouts(exchange)
    const capital = await spine.store.ledger.balance('equity:capital', 'eth@eth')
    await lose(spine, nonce)
    const operate = createOperatePayouts(spine.store)
    await operate.drop(payout?.id ?? '', word)
    await spine.blocks(6)
    expect(paid()).toBe(0)
    expect(await lostFor(spine)).toBe('0')
    expect(capital - (await spine.store.ledger.balance('equity:capital', 'eth@eth'))).toBe(BigInt(payout?.units ?? 0))
    expect(await view(spine, exchange)).toMatchObject({
      status: 'finished',
      reason: 'OPERATOR',
      item: { reason: 'OPERATOR', payoutHash: null, sentUnits: null },
    })
    expect(await spine.store.operator.held(10)).toEqual([])
    expect((await spine.database.query('select promised from inventory where promised <> 0')).length).toBe(0)
    expect(await spine.alarms()).toEqual(['dead'])
  })

  test('and is mined again and fails there is not paid, and costs what it cost', async () => {
    const spine = await start()
    const { exchange, paid } = await finished(spine)
    const fees = () => spine.store.ledger.balance('expense:network-fee', 'eth@eth')
    const cost = await fees()
    spine.fakes.eth.knobs.reverts = true
    spine.fakes.eth.reorg(DEEP)
    await spine.blocks(1)
    spine.fakes.eth.knobs.reverts = false
    await spine.blocks(14)
    expect(paid()).toBe(0)
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LOST' }])
    expect(await fees()).toBe(cost)
    expect(await spine.wallet('eth@eth')).toBe(spine.fakes.eth.held(spine.fakes.eth.chain.addresses.hot(), null))
  })
})

test('a refund that is lost keeps its reason, and its exchange says what is missing', async () => {
  const spine = await start()
  const exchange = await spine.order()
  spine.deposit(exchange, 2_900n)
  await spine.blocks(6)
  const before = await view(spine, exchange)
  expect(before).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  const [last] = await spine.database.query<{ conflict_key: string }>('select conflict_key from transactions')
  const gone = (await hashes(spine)).at(-1)
  spine.fakes.btc.reorg(4, (txHash) => txHash === gone)
  spine.fakes.btc.steal(last?.conflict_key ?? '')
  await spine.blocks(14)
  expect(await view(spine, exchange)).toMatchObject({ status: 'refunded', reason: 'PAYOUT_VANISHED' })
  const [payout] = await spine.store.operator.held(10)
  await spine.store.pauses.resume('payouts:btc')
  spine.fakes.btc.pay(spine.fakes.btc.chain.addresses.hot(), COIN)
  await spine.blocks(4)
  expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
  await createOperatePayouts(spine.store).release(payout?.id ?? '', word)
  await spine.blocks(6)
  expect(await view(spine, exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
})

test('of a batch in bitcoin each payout waits for a word of its own', async () => {
  const spine = await start()
  const orders = [
    await spine.order({ from: eth, to: btc, fromUnits: ETHER / 5n }),
    await spine.order({ from: eth, to: btc, fromUnits: ETHER / 5n }),
  ]
  for (const { deposit } of orders) spine.fakes.eth.pay(deposit.address, ETHER / 5n)
  await spine.blocks(6)
  const [transaction, ...others] = await spine.database.query<{ conflict_key: string }>(
    "select conflict_key from transactions where network = 'btc'",
  )
  expect(others).toEqual([])
  await spine.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await spine.blocks(8)
  const [bytes] = await spine.database.query<{ tx_hash: string }>("select tx_hash from attempts where network = 'btc'")
  spine.fakes.btc.reorg(DEEP, (txHash) => txHash === bytes?.tx_hash)
  spine.fakes.btc.steal(transaction?.conflict_key ?? '')
  await spine.blocks(14)
  const held = await spine.store.operator.held(10)
  expect(held.map(({ attention }) => attention)).toEqual(['LOST', 'LOST'])
  // The coin was taken with our own key: everything stands still until a person has looked.
  expect(await spine.alarms()).toContain('intrusion')
  await spine.store.pauses.resume('payouts:btc')
  spine.fakes.btc.pay(spine.fakes.btc.chain.addresses.hot(), COIN)
  await spine.blocks(4)
  const counts = () => orders.map(({ recipient }) => spine.fakes.btc.paidTo(recipient?.address ?? '').length)
  expect(counts()).toEqual([0, 0])
  const operate = createOperatePayouts(spine.store)
  const first = held.find(({ exchangeId }) => exchangeId === orders[0]?.id)
  await operate.release(first?.id ?? '', word)
  await spine.blocks(4)
  expect(counts()).toEqual([1, 0])
  await operate.release(held.find(({ id }) => id !== first?.id)?.id ?? '', word)
  await spine.blocks(4)
  expect(counts()).toEqual([1, 1])
})

test('a sweep that is lost is planned anew and arrives once', async () => {
  const spine = await start()
  const exchange = await spine.order({ from: eth, to: btc, fromUnits: ETHER / 10n })
  spine.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
  await spine.blocks(12)
  await spine.services.sweep(spine.fakes.eth.chain)
  await spine.blocks(5)
  const held = await spine.wallet('eth@eth')
  const gone = (await hashes(spine)).at(-1)
  spine.fakes.eth.reorg(4, (txHash) => txHash === gone)
  spine.fakes.eth.steal(`${exchange.deposit.address}:0`)
  await spine.blocks(14)
  expect(await spine.store.operator.held(10)).toEqual([])
  await spine.services.sweep(spine.fakes.eth.chain)
  await spine.blocks(5)
  const sweeps = await spine.database.query("select state from payouts where purpose = 'sweep' order by created_at")
  expect(sweeps).toEqual([{ state: 'void' }, { state: 'confirmed' }])
  expect(await spine.wallet('eth@eth')).toBe(held)
})
