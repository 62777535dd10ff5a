import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import { createSweepDeposits } from '../../../src/exchange/deposits/sweep-deposits.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const listSignedNonces = async () =>
  (
    await fixture.database.query<{ key: string }>(
      "select conflict_key as key from transactions where network = 'eth' and wallet = 'eth-hot' order by created_at",
    )
  ).map(({ key }) => Number(key.split(':')[1]))
const ageAttempts = () => fixture.database.query("update attempts set created_at = created_at - interval '1 day'")

describe('a payout', () => {
  test('that is signed during a failing gas estimate stays in its transaction', async () => {
    const exchange = await fixture.queuePayout()
    const { sender } = fixture.fakes.eth.chain
    const estimate = sender.gasLimit
    for (const code of ['INSUFFICIENT_LIQUIDITY', 'SIMULATION_FAILED'] as const) {
      sender.gasLimit = async () => {
        sender.gasLimit = estimate
        await fixture.services.dispatch('eth')
        throw new AppError(code, 'signed meanwhile')
      }
      await fixture.services.dispatch('eth')
      expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed', attention: null }])
    }
    await fixture.mineBlocks(4)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('is signed and paid once by concurrent workers', async () => {
    const exchanges = await Promise.all(Array.from({ length: 6 }, () => fixture.createExchange()))
    for (const exchange of exchanges) fixture.payDeposit(exchange, SMALL)
    for (let n = 0; n < 7; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.runWatchers()
      for (let round = 0; round < 3; round++) {
        const keys = await fixture.takeJobKeys()
        await Promise.all(
          [...keys, ...keys, ...keys].map((key) =>
            fixture.runJob(key).catch((error: unknown) => expect(error).toBeInstanceOf(AppError)),
          ),
        )
      }
    }
    await fixture.mineBlocks(4)
    for (const exchange of exchanges) {
      expect(fixture.countEtherPayments(exchange)).toBe(1)
      expect(await fixture.readStatus(exchange)).toBe('finished')
    }
    const nonces = await listSignedNonces()
    expect(nonces).toEqual(nonces.map((_, n) => n))
  })

  test('that reverts is held, and is signed with the next nonce when the operator releases it', async () => {
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.revertsTransactions = true
    await fixture.mineBlocks(13)
    fixture.fakes.eth.behaviour.revertsTransactions = false
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'REVERTED' }])
    expect(await fixture.listAlarmKinds()).toEqual(expect.arrayContaining(['invalid', 'held']))
    const noncesBefore = await listSignedNonces()
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await listSignedNonces()).toEqual([...noncesBefore, noncesBefore.length])
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('that nodes reject is rebroadcast with the same bytes until they accept it', async () => {
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.rejectsBroadcasts = true
    await fixture.mineBlocks(3)
    expect(await fixture.listAlarmKinds()).toContain('broadcast')
    fixture.fakes.eth.behaviour.rejectsBroadcasts = false
    await fixture.mineBlocks(5)
    expect(await fixture.listAlarmKinds()).not.toContain('broadcast')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('that is not mined is replaced with the same nonce, and one attempt confirms', async () => {
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    await ageAttempts()
    await fixture.runJobs(2)
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    const attempts = await fixture.database.query<{ tx_hash: string; raw: string; state: string }>(
      'select a.tx_hash, a.raw, a.state from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1 order by a.id',
      [exchange.id],
    )
    expect(attempts.map(({ state }) => state)).toEqual(['replaced', 'signed'])
    // The first attempt is broadcast again.
    await fixture.fakes.eth.chain.sender.broadcast(attempts[0]?.raw ?? '')
    fixture.fakes.eth.mine()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect((await fixture.readExecution(exchange)).payoutHash).toBe(attempts[0]?.tx_hash)
  })

  test('that stays unmined at higher fees has a fee limit and raises an alarm', async () => {
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    for (let n = 0; n < 20; n++) {
      await fixture.runJobs(2)
      await ageAttempts()
    }
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    const [fees] = await fixture.database.query<{ most: string; least: string }>(
      'select max(a.fee_units) as most, min(a.fee_units) as least from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1',
      [exchange.id],
    )
    expect(BigInt(fees?.most ?? 0)).toBeLessThan(BigInt(fees?.least ?? 0) * 6n)
    expect(await fixture.listAlarmKinds()).toContain('stuck')
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.listAlarmKinds()).not.toContain('stuck')
  })

  test('that is proven invalid is signed again and paid once', async () => {
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    const [{ key } = { key: '' }] = await fixture.database.query<{ key: string }>(
      "select conflict_key as key from transactions where state = 'live'",
    )
    fixture.fakes.eth.addConflict(key)
    await fixture.mineBlocks(11)
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('whose gas estimate fails is held, and delays no other', async () => {
    const [reverting, valid] = [await fixture.queuePayout(), await fixture.queuePayout()]
    fixture.fakes.eth.behaviour.revertingRecipient = reverting.recipient?.address ?? null
    await fixture.mineBlocks(5)
    expect(await fixture.readExecution(reverting)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.readStatus(valid)).toBe('finished')
    fixture.fakes.eth.behaviour.revertingRecipient = null
    await fixture.decide(reverting, 'refund')
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(reverting)).toBe('refunded')
  })

  test('that cannot be built delays no other of its batch', async () => {
    await fixture.insertPayout('btc', 10_000n, 'first', 'withdrawal')
    await fixture.insertPayout('btc', 545n, 'dust', 'withdrawal')
    await fixture.insertPayout('btc', 10_000n, 'last', 'withdrawal')
    await fixture.mineBlocks(4)
    expect([
      fixture.fakes.btc.listPayments('first').length,
      fixture.fakes.btc.listPayments('dust').length,
      fixture.fakes.btc.listPayments('last').length,
    ]).toEqual([1, 0, 1])
    expect(await fixture.listAlarmKinds()).toContain('payout')
  })

  test('waits for spendable outputs, derives no addresses meanwhile, and raises an alarm when it is late', async () => {
    const { alarms } = fixture.store
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    const listAddresses = () => fixture.database.query("select 1 from house_addresses where network = 'btc'")
    const reservedOutputs = await fixture.database.query(
      "update coins set reserved_by = (select id from transactions limit 1) where network = 'btc' and spent_by is null and reserved_by is null returning outpoint",
    )
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
    await fixture.mineBlocks(9)
    const addressesBefore = (await listAddresses()).length
    for (let n = 0; n < 5; n++) {
      await fixture.clearHolds()
      await fixture.runJobs(1)
    }
    expect((await listAddresses()).length).toBe(addressesBefore)
    // The wallet holds enough: to fill it would not help.
    const [payout] = await fixture.listPayouts(exchange)
    expect(await fixture.listAlarmKinds()).not.toContain('wallet')
    expect(await alarms.find('outputs:btc@btc')).toBeNull()
    await fixture.database.query("update payouts set created_at = created_at - interval '70 minutes' where id = $1", [
      payout?.id,
    ])
    await fixture.clearHolds()
    await fixture.runJobs(1)
    expect(await alarms.find('outputs:btc@btc')).toMatchObject({ detail: { payoutId: payout?.id, payouts: 1 } })
    await fixture.database.query('update coins set reserved_by = null where outpoint = any($1)', [
      reservedOutputs.map((row) => Object.values(row)[0]),
    ])
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    await createWatchOutflow(fixture)()
    expect(await alarms.find('outputs:btc@btc')).toBeNull()
  })

  // M25: each build that failed left the row of a change address behind.
  test('M25: of all outputs is not built, and registers no change address', async () => {
    const count = async () =>
      (await fixture.database.query("select 1 from house_addresses where network = 'btc' and branch = 'change'")).length
    const [free] = await fixture.database.query<{ units: string }>(
      "select sum(units) as units from coins where network = 'btc' and spent_by is null and reserved_by is null",
    )
    const before = await count()
    await fixture.insertPayout('btc', BigInt(free?.units ?? 0) - 1n, 'almost everything', 'gas')
    await fixture.runJobs()
    expect(await count()).toBe(before)
    await fixture.database.query("update payouts set state = 'void' where address = 'almost everything'")
  })

  test('of the whole balance is not signed, because nothing is left for the fee', async () => {
    const balance = await fixture.store.ledger.balance('asset:wallet', 'eth@eth')
    await fixture.insertPayout('eth', balance, 'everything', 'gas')
    await fixture.runJobs()
    expect(
      await fixture.database.query("select 1 from payouts where address = 'everything' and state = 'reserved'"),
    ).toHaveLength(1)
    await fixture.database.query("update payouts set state = 'void' where address = 'everything'")
  })
})

describe('deposits in an account family', () => {
  test('are swept once by two concurrent sweepers, and the ledger equals the chain', async () => {
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
    await fixture.mineBlocks(11)
    const { chain } = fixture.fakes.eth
    await Promise.all(
      [fixture.services.sweep(chain), fixture.services.sweep(chain)].map((run) =>
        run.catch((error: unknown) => expect(error).toBeInstanceOf(AppError)),
      ),
    )
    await fixture.mineBlocks(5)
    const swept = await fixture.database.query(
      "select p.state from payouts p join deposit_targets t on t.key_index = p.key_index where p.purpose = 'sweep' and t.exchange_id = $1",
      [exchange.id],
    )
    expect(swept).toEqual([{ state: 'confirmed' }])
    expect(await fixture.store.ledger.balance('asset:deposits', 'eth@eth')).toBe(0n)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(fixture.fakes.eth.balanceOf('eth-hot', null))
  })

  // M27.7: a fresh database on a used keystore signed each used nonce again, and waited for finality to invalidate it.
  test('M27.7: are swept from the nonce that an address has reached on the chain, and then from its own', async () => {
    const { eth: ether } = fixture.fakes
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    const { address } = exchange.deposit
    for (const nonce of [0, 1]) ether.addConflict(`${address}:${nonce}`)
    const listKeys = async () =>
      (
        await fixture.database.query<{ key: string }>(
          "select conflict_key as key from transactions where network = 'eth' and wallet = $1 order by created_at",
          [address],
        )
      ).map(({ key }) => key)
    for (const keys of [[`${address}:2`], [`${address}:2`, `${address}:3`]]) {
      ether.pay(address, ETHER)
      await fixture.mineBlocks(11)
      await fixture.services.sweep(ether.chain)
      await fixture.services.dispatch('eth')
      expect(await listKeys()).toEqual(keys)
    }
    await fixture.mineBlocks(4)
  })

  // A refund of 200 USDT waited a day for a low network fee, because the wallet of that token was empty.
  test('are swept at any fee while payouts of their asset wait for them', async () => {
    const { chain, behaviour } = fixture.fakes.eth
    const listSwept = async ({ id }: Exchange) =>
      fixture.database.query('select 1 from deposits where exchange_id = $1 and swept_by is not null', [id])
    const sweepAgain = async () => {
      await fixture.database.query('update sweep_candidates set postponed_until = clock_timestamp()')
      await sweep(chain)
    }
    const sweep = createSweepDeposits(fixture.dependencies)
    await sweep(chain)
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
    await fixture.mineBlocks(12)
    const usual = behaviour.feeRate
    // A sweep costs 0.0021 ETH: the deposit is worth 47 of them.
    behaviour.feeRate = 10n ** 11n
    await sweepAgain()
    expect(await listSwept(exchange)).toEqual([])
    const units = (await fixture.readWalletUnits('eth@eth')) + 1n
    const id = await fixture.insertPayout('eth', units, 'waits', 'withdrawal')
    await sweepAgain()
    expect(await listSwept(exchange)).toHaveLength(1)
    behaviour.feeRate = usual
    await fixture.store.payouts.void(id)
  })

  test('M4: wait for a low fee also if the process starts while the fee is high', async () => {
    const { chain, behaviour } = fixture.fakes.eth
    await createSweepDeposits(fixture.dependencies)(chain)
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
    const usual = behaviour.feeRate
    behaviour.feeRate = 10n ** 11n
    const restarted = createSweepDeposits(fixture.dependencies)
    const sweepAgain = async () => {
      await fixture.database.query('update sweep_candidates set postponed_until = clock_timestamp()')
      await restarted(chain)
      return fixture.database.query('select 1 from deposits where exchange_id = $1 and swept_by is not null', [
        exchange.id,
      ])
    }
    await restarted(chain)
    await fixture.mineBlocks(12)
    expect(await sweepAgain()).toEqual([])
    behaviour.feeRate = usual
    expect(await sweepAgain()).toHaveLength(1)
  })

  test.each([
    { when: 'if they are worth more than a hundred sweeps', units: ETHER / 4n, waitedHours: 0, sweeps: 1 },
    { when: 'once they have waited a day', units: ETHER / 10n, waitedHours: 25, sweeps: 1 },
    { when: 'no sooner than that', units: ETHER / 10n, waitedHours: 23, sweeps: 0 },
  ])('M4: are swept at a high fee $when', async ({ units, waitedHours, sweeps }) => {
    const { chain, behaviour } = fixture.fakes.eth
    const sweep = createSweepDeposits(fixture.dependencies)
    await sweep(chain)
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: units })
    fixture.fakes.eth.pay(exchange.deposit.address, units)
    await fixture.mineBlocks(12)
    await fixture.database.query(
      'update deposits set first_seen_at = first_seen_at - make_interval(hours => $2) where exchange_id = $1',
      [exchange.id, waitedHours],
    )
    const usual = behaviour.feeRate
    // A sweep costs 0.0021 ETH: the deposits are worth 119 and 47 of them.
    behaviour.feeRate = 10n ** 11n
    await sweep(chain)
    behaviour.feeRate = usual
    const swept = await fixture.database.query(
      'select 1 from deposits where exchange_id = $1 and swept_by is not null',
      [exchange.id],
    )
    expect(swept).toHaveLength(sweeps)
  })

  test('that are worth less than a sweep costs do not delay the sweep of others', async () => {
    for (let n = 0; n < 21; n++)
      fixture.fakes.eth.pay((await fixture.createExchange({ from: eth, to: btc })).deposit.address, 600_000n)
    await fixture.mineBlocks(1)
    const large = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    fixture.fakes.eth.pay(large.deposit.address, ETHER)
    await fixture.mineBlocks(12)
    for (let n = 0; n < 3; n++) await fixture.services.sweep(fixture.fakes.eth.chain)
    expect(
      await fixture.database.query('select 1 from deposits where exchange_id = $1 and swept_by is not null', [
        large.id,
      ]),
    ).toHaveLength(1)
  })
})
