import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const paid = (exchange: Exchange) => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const signedNonces = async () =>
  (
    await fixture.database.query<{ key: string }>(
      "select conflict_key as key from transactions where network = 'eth' and wallet = 'eth-hot' order by created_at",
    )
  ).map(({ key }) => Number(key.split(':')[1]))
const age = () => fixture.database.query("update attempts set created_at = created_at - interval '1 day'")
/** An exchange whose payout waits to be signed. */
const waiting = async () => {
  const exchange = await fixture.order()
  fixture.deposit(exchange, SMALL)
  await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
  await fixture.blocks(2)
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.database.query('update payouts set held_until = null where held_until is not null')
  return exchange
}

describe('a payout', () => {
  test('that is signed while its estimate is under way is not taken out of its transaction', async () => {
    const exchange = await waiting()
    const { sender } = fixture.fakes.eth.chain
    const estimate = sender.gasLimit
    for (const code of ['INSUFFICIENT_LIQUIDITY', 'SIMULATION_FAILED'] as const) {
      sender.gasLimit = async () => {
        sender.gasLimit = estimate
        await fixture.services.dispatch('eth')
        throw new AppError(code, 'somebody was faster')
      }
      await fixture.services.dispatch('eth')
      expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'signed', attention: null }])
    }
    await fixture.blocks(4)
    expect(paid(exchange)).toBe(1)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('is signed once by many dispatchers, stepped by many steppers, sent by many senders', async () => {
    const exchanges = await Promise.all(Array.from({ length: 6 }, () => fixture.order()))
    for (const exchange of exchanges) fixture.deposit(exchange, SMALL)
    for (let n = 0; n < 7; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.watch()
      for (let round = 0; round < 3; round++) {
        const keys = await fixture.woken()
        await Promise.all(
          [...keys, ...keys, ...keys].map((key) =>
            fixture.perform(key).catch((error: unknown) => expect(error).toBeInstanceOf(AppError)),
          ),
        )
      }
    }
    await fixture.blocks(4)
    for (const exchange of exchanges) {
      expect(paid(exchange)).toBe(1)
      expect(await fixture.status(exchange)).toBe('finished')
    }
    const nonces = await signedNonces()
    expect(nonces).toEqual(nonces.map((_, n) => n))
  })

  test('that reverts is held, and signed again with the next nonce when the operator releases it', async () => {
    const exchange = await waiting()
    fixture.fakes.eth.knobs.reverts = true
    await fixture.blocks(13)
    fixture.fakes.eth.knobs.reverts = false
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'REVERTED' }])
    expect(await fixture.alarms()).toEqual(expect.arrayContaining(['invalid', 'held']))
    const before = await signedNonces()
    await fixture.decide(exchange, 'release')
    await fixture.blocks(5)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await signedNonces()).toEqual([...before, before.length])
    expect(paid(exchange)).toBe(1)
  })

  test('that nodes refuse is offered again and again, the same bytes', async () => {
    const exchange = await waiting()
    fixture.fakes.eth.knobs.refuses = true
    await fixture.blocks(3)
    expect(await fixture.alarms()).toContain('broadcast')
    fixture.fakes.eth.knobs.refuses = false
    await fixture.blocks(5)
    expect(await fixture.alarms()).not.toContain('broadcast')
    expect(paid(exchange)).toBe(1)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('that is not mined is replaced under the same nonce, and one of the two arrives', async () => {
    const exchange = await waiting()
    fixture.fakes.eth.knobs.deaf = true
    await fixture.work()
    await age()
    await fixture.work(2)
    fixture.fakes.eth.knobs.deaf = false
    const attempts = await fixture.database.query<{ tx_hash: string; raw: string; state: string }>(
      'select a.tx_hash, a.raw, a.state from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1 order by a.id',
      [exchange.id],
    )
    expect(attempts.map(({ state }) => state)).toEqual(['replaced', 'signed'])
    // Somebody relays the old one after all.
    await fixture.fakes.eth.chain.sender.broadcast(attempts[0]?.raw ?? '')
    fixture.fakes.eth.mine()
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
    expect((await fixture.execution(exchange)).payoutHash).toBe(attempts[0]?.tx_hash)
  })

  test('is not raised without end where its fee is not what it waits for', async () => {
    const exchange = await waiting()
    fixture.fakes.eth.knobs.deaf = true
    for (let n = 0; n < 20; n++) {
      await fixture.work(2)
      await age()
    }
    fixture.fakes.eth.knobs.deaf = false
    const [fees] = await fixture.database.query<{ most: string; least: string }>(
      'select max(a.fee_units) as most, min(a.fee_units) as least from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1',
      [exchange.id],
    )
    expect(BigInt(fees?.most ?? 0)).toBeLessThan(BigInt(fees?.least ?? 0) * 6n)
    expect(await fixture.alarms()).toContain('stuck')
    await fixture.blocks(5)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await fixture.alarms()).not.toContain('stuck')
  })

  test('that is proven invalid is signed again, and paid once', async () => {
    const exchange = await waiting()
    fixture.fakes.eth.knobs.deaf = true
    await fixture.work()
    const [{ key } = { key: '' }] = await fixture.database.query<{ key: string }>(
      "select conflict_key as key from transactions where state = 'live'",
    )
    fixture.fakes.eth.steal(key)
    await fixture.blocks(11)
    fixture.fakes.eth.knobs.deaf = false
    await fixture.blocks(5)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
  })

  test('that its chain would refuse is put aside, and stops no other', async () => {
    const [bad, good] = [await waiting(), await waiting()]
    fixture.fakes.eth.knobs.gasRefused = bad.recipient?.address ?? null
    await fixture.blocks(5)
    expect(await fixture.execution(bad)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.status(good)).toBe('finished')
    fixture.fakes.eth.knobs.gasRefused = null
    await fixture.decide(bad, 'refund')
    await fixture.blocks(5)
    expect(await fixture.status(bad)).toBe('refunded')
  })

  test('that can never be built stops no other of its batch', async () => {
    const queue = async (units: bigint, address: string) =>
      fixture.store.payouts.insert({
        id: crypto.randomUUID(),
        exchangeId: null,
        executionId: null,
        depositId: null,
        leg: null,
        purpose: 'withdrawal',
        network: 'btc',
        assetId: 'btc@btc',
        from: 'hot',
        address,
        memo: null,
        units,
      })
    await queue(10_000n, 'first')
    await queue(545n, 'dust')
    await queue(10_000n, 'last')
    await fixture.blocks(4)
    expect([
      fixture.fakes.btc.paidTo('first').length,
      fixture.fakes.btc.paidTo('dust').length,
      fixture.fakes.btc.paidTo('last').length,
    ]).toEqual([1, 0, 1])
    expect(await fixture.alarms()).toContain('payout')
  })

  test('waits for its wallet, and leaves no addresses behind while it does', async () => {
    const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
    const app = () => fixture.database.query("select 1 from house_addresses where network = 'btc'")
    const free = await fixture.database.query(
      "update coins set reserved_by = (select id from transactions limit 1) where network = 'btc' and spent_by is null and reserved_by is null returning outpoint",
    )
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
    await fixture.blocks(9)
    const before = (await app()).length
    for (let n = 0; n < 5; n++) {
      await fixture.database.query('update payouts set held_until = null where held_until is not null')
      await fixture.work(1)
    }
    expect((await app()).length).toBe(before)
    expect(await fixture.alarms()).toContain('wallet')
    await fixture.database.query('update coins set reserved_by = null where outpoint = any($1)', [
      free.map((row) => Object.values(row)[0]),
    ])
    await fixture.database.query('update payouts set held_until = null where held_until is not null')
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('of all that an account holds is not signed without its fee', async () => {
    const held = await fixture.store.ledger.balance('asset:wallet', 'eth@eth')
    await fixture.store.payouts.insert({
      id: crypto.randomUUID(),
      exchangeId: null,
      executionId: null,
      depositId: null,
      leg: null,
      purpose: 'gas',
      network: 'eth',
      assetId: 'eth@eth',
      from: 'hot',
      address: 'everything',
      memo: null,
      units: held,
    })
    await fixture.work()
    expect(
      await fixture.database.query("select 1 from payouts where address = 'everything' and state = 'reserved'"),
    ).toHaveLength(1)
    await fixture.database.query("update payouts set state = 'void' where address = 'everything'")
  })
})

describe('deposits of an account', () => {
  test('are swept once by two sweepers, and the ledger says what the chain says', async () => {
    const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
    await fixture.blocks(11)
    const { chain } = fixture.fakes.eth
    await Promise.all(
      [fixture.services.sweep(chain), fixture.services.sweep(chain)].map((run) =>
        run.catch((error: unknown) => expect(error).toBeInstanceOf(AppError)),
      ),
    )
    await fixture.blocks(5)
    const swept = await fixture.database.query(
      "select p.state from payouts p join deposit_targets t on t.key_index = p.key_index where p.purpose = 'sweep' and t.exchange_id = $1",
      [exchange.id],
    )
    expect(swept).toEqual([{ state: 'confirmed' }])
    expect(await fixture.store.ledger.balance('asset:deposits', 'eth@eth')).toBe(0n)
    expect(await fixture.wallet('eth@eth')).toBe(fixture.fakes.eth.held('eth-hot', null))
  })

  test('that are worth no sweep do not stand before those that are', async () => {
    for (let n = 0; n < 21; n++)
      fixture.fakes.eth.pay((await fixture.order({ from: eth, to: btc })).deposit.address, 600_000n)
    await fixture.blocks(1)
    const rich = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
    fixture.fakes.eth.pay(rich.deposit.address, ETHER)
    await fixture.blocks(12)
    for (let n = 0; n < 3; n++) await fixture.services.sweep(fixture.fakes.eth.chain)
    expect(
      await fixture.database.query('select 1 from deposits where exchange_id = $1 and swept_by is not null', [rich.id]),
    ).toHaveLength(1)
  })
})
