import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createMaxFees } from '../../../src/app/max-fees.ts'
import { partnerAccount } from '../../../src/core/domain/ledger/entries.ts'
import { verifyAuditLog } from '../../../src/core/services/verify-audit-log.ts'
import { createOperateBalances } from '../../../src/exchange/operations/operate-balances.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const note = { actor: 'anna', reason: 'the partner asked for it' }
const partner = { id: partnerId, name: 'acme' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let balances: ReturnType<typeof createOperateBalances>
beforeAll(async () => {
  fixture = await startMoneyPath()
  balances = createOperateBalances(fixture.store, createMaxFees('sandbox'))
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const readOwed = async () => -(await fixture.store.ledger.balance(partnerAccount(partnerId), 'eth@eth'))
const payOut = (units: bigint, key: string, address = `own-${key}`) =>
  balances.payOut(
    partner,
    { assetId: 'eth@eth', network: 'eth', units, destination: { address, memo: null } },
    key,
    note,
  )
const listReceived = (address: string) => fixture.fakes.eth.listPayments(address).map(({ units }) => units)
/** Finishes an exchange without a recipient, which credits the partner. Returns what we owe the partner. */
async function earnBalance(): Promise<bigint> {
  fixture.payDeposit(await fixture.createExchange({ recipient: null }), SMALL)
  await fixture.mineBlocks(3)
  return readOwed()
}

describe('a partner’s balance', () => {
  test('is paid out, and is reduced by the request', async () => {
    const balance = await earnBalance()
    expect(balance).toBeGreaterThan(0n)
    expect(await payOut(balance - 5n, 'first')).toMatchObject({ state: 'reserved', repeated: false })
    expect(await readOwed()).toBe(5n)
    await fixture.mineBlocks(5)
    expect(listReceived('own-first')).toEqual([balance - 5n])
    const remaining = await fixture.database.query(
      "select units from balances where account like 'liability:withdrawal:%' and units <> 0",
    )
    expect(remaining).toEqual([])
    expect(await fixture.readWalletUnits('eth@eth')).toBe(fixture.fakes.eth.balanceOf('eth-hot', null))
  })

  test('is paid once for ten concurrent requests with one key, which cannot be used for another payout', async () => {
    const balance = await earnBalance()
    const results = await Promise.all(Array.from({ length: 10 }, () => payOut(1_000n, 'second')))
    expect(new Set(results.map(({ payoutId }) => payoutId)).size).toBe(1)
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(await readOwed()).toBe(balance - 1_000n)
    await expect(payOut(2_000n, 'second')).rejects.toThrow('already has a payout')
    await expect(payOut(1_000n, 'second', 'thief')).rejects.toThrow('already has a payout')
    await fixture.mineBlocks(5)
    expect(listReceived('own-second')).toEqual([1_000n])
    expect(await payOut(1_000n, 'second')).toMatchObject({ state: 'confirmed', repeated: true })
  })

  test('covers one of two concurrent requests for most of it', async () => {
    const balance = await earnBalance()
    const most = (balance * 6n) / 10n
    const outcomes = await Promise.allSettled([payOut(most, 'here'), payOut(most, 'there')])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await readOwed()).toBe(balance - most)
    await expect(payOut(balance, 'more')).rejects.toThrow('cannot be paid out')
    await expect(payOut(0n, 'nothing')).rejects.toThrow('cannot be paid out')
    await fixture.mineBlocks(5)
    expect(listReceived('own-here').length + listReceived('own-there').length).toBe(1)
  })

  test('is not paid while the partner is paused, and is owed again when the payout is dropped', async () => {
    await earnBalance()
    const balance = await readOwed()
    await fixture.store.pauses.pause(`partner:${partnerId}`, 'asked to', 'test')
    const { payoutId } = await payOut(7_000n, 'paused')
    await fixture.mineBlocks(3)
    expect(listReceived('own-paused')).toEqual([])
    await createOperatePayouts(fixture.store).drop(payoutId, note)
    expect(await readOwed()).toBe(balance)
    await fixture.store.pauses.resume(`partner:${partnerId}`)
    await fixture.mineBlocks(3)
    expect(listReceived('own-paused')).toEqual([])
    await expect(payOut(7_000n, 'paused')).rejects.toThrow('another --key')
  })

  test.each(['release', 'drop'] as const)(
    'above the limit of one payout is held with an alarm, which the operator ends by a %s',
    async (act) => {
      await earnBalance()
      const balance = await readOwed()
      const { limits } = fixture.settings
      const { perTransactionUsd } = limits
      onTestFinished(() => void Object.assign(limits, { perTransactionUsd }))
      // 4 001 dollars an ether: a thousandth of one is above a dollar.
      Object.assign(limits, { perTransactionUsd: 10n ** 12n })
      const units = ETHER / 1_000n
      const { payoutId } = await payOut(units, `above-${act}`)
      await fixture.mineBlocks(2)
      expect(await fixture.store.alarms.find(`payout:${payoutId}`)).toMatchObject({
        detail: { code: 'LIMIT', purpose: 'withdrawal', partnerId, assetId: 'eth@eth', units: units.toString() },
      })
      await createOperatePayouts(fixture.store)[act](payoutId, note)
      expect(await fixture.store.alarms.find(`payout:${payoutId}`)).toBeNull()
      await fixture.mineBlocks(5)
      expect(await fixture.store.alarms.find(`payout:${payoutId}`)).toBeNull()
      const isPaid = act === 'release'
      expect(listReceived(`own-above-${act}`)).toEqual(isPaid ? [units] : [])
      expect(await readOwed()).toBe(isPaid ? balance - units : balance)
    },
  )

  test('is not owed again by a drop while its payout is signed', async () => {
    await earnBalance()
    const balance = await readOwed()
    const { payoutId } = await payOut(6_000n, 'signing')
    const { sign } = fixture.signer
    let dropping: Promise<unknown> = Promise.resolve()
    const isWaiting = async () =>
      (
        await fixture.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length > 0
    fixture.signer.sign = async (intent) => {
      dropping = createOperatePayouts(fixture.store)
        .drop(payoutId, note)
        .catch((error: unknown) => error)
      await expect.poll(isWaiting, PATIENCE).toBe(true)
      return sign(intent)
    }
    await fixture.services.dispatch('eth')
    fixture.signer.sign = sign
    expect(await dropping).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('is signed') })
    await fixture.mineBlocks(5)
    expect(listReceived('own-signing')).toEqual([6_000n])
    expect(await readOwed()).toBe(balance - 6_000n)
  })

  test('is paid only with a reason, which is recorded in the audit log', async () => {
    await expect(
      balances.payOut(
        partner,
        { assetId: 'eth@eth', network: 'eth', units: 1n, destination: { address: 'a', memo: null } },
        'none',
        { actor: 'anna', reason: '-' },
      ),
    ).rejects.toThrow('a reason of at least 3 letters')
    const [act] = await fixture.database.query(
      "select act, actor, subject, reason, before, after from operator_acts where act = 'pay-out' order by id limit 1",
    )
    expect(act).toMatchObject({ actor: 'anna', subject: 'partner acme', reason: note.reason })
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'whole' })
  })

  test('is debited by every withdrawal, or the database rejects the withdrawal', async () => {
    const insert = fixture.database.query(
      `insert into payouts (id, purpose, network, asset_id, address, units, owed_from) values ($1, 'withdrawal', 'eth', 'eth@eth', 'thief', 5, $2)`,
      [randomUUID(), `liability:partner:${partnerId}`],
    )
    await expect(insert).rejects.toMatchObject({ code: '23514' })
  })
})

describe('an unclaimed deposit', () => {
  const readOwnerAddress = async () => ({ address: 'its-owner', memo: null })

  test('is paid to its owner completely and once', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    fixture.payDeposit(exchange, 2_900n)
    const other = await fixture.createExchange({ refund: null })
    fixture.payDeposit(other, 2_800n)
    await fixture.mineBlocks(4)
    const operate = createOperateExchanges(fixture.store)
    for (const { id } of [exchange, other]) await operate.decide(id, 'fail', null, note)
    await fixture.runWorkers()
    const [first, second] = await fixture.store.operator.listUnclaimed(10)
    expect([first, second]).toMatchObject([
      { exchangeId: exchange.id, assetId: 'btc@btc', units: 2_900n },
      { exchangeId: other.id, units: 2_800n },
    ])
    const depositId = first?.depositId ?? ''
    const results = await Promise.all(
      Array.from({ length: 5 }, () => balances.payUnclaimed(depositId, readOwnerAddress, note)),
    )
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(await fixture.store.operator.listUnclaimed(10)).toMatchObject([{ exchangeId: other.id }])
    await fixture.mineBlocks(5)
    expect(fixture.fakes.btc.listPayments('its-owner').map(({ units }) => units)).toEqual([2_900n])
    expect(await balances.payUnclaimed(depositId, readOwnerAddress, note)).toMatchObject({
      state: 'confirmed',
      repeated: true,
    })
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'btc@btc')).toBe(-2_800n)
    await expect(balances.payUnclaimed('999999', readOwnerAddress, note)).rejects.toThrow(
      'deposit 999999 is not unclaimed',
    )
  })
})
