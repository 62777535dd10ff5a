import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { InvariantError } from '../../../src/lib/assert.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const note = { actor: 'anna', reason: 'looked at it' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperatePayouts>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperatePayouts(fixture.store)
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const listActs = async () =>
  (await fixture.database.query<{ act: string }>('select act from operator_acts order by id')).map(({ act }) => act)
const findAlarm = async (kind: string) =>
  (await fixture.store.alarms.list(100)).find(({ subject }) => subject.startsWith(`${kind}:`))

describe('an unexpected exception for one payout', () => {
  test.each(['build', 'gasLimit', 'sign'] as const)(
    'in %s holds this payout, and the queue continues',
    async (stage) => {
      const [failing, valid] = [await fixture.queuePayout(), await fixture.queuePayout()]
      const toText = (value: unknown) =>
        JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? `${one}` : one))
      const { sender } = fixture.fakes.eth.chain
      const { build, gasLimit } = sender
      const { sign } = fixture.signer
      const throwIfFailing = (value: unknown) => {
        if (toText(value).includes(`"${failing.recipient?.address}"`)) throw new InvariantError('an unexpected value')
      }
      if (stage === 'build')
        sender.build = (request) => {
          throwIfFailing(request)
          return build(request)
        }
      if (stage === 'gasLimit')
        sender.gasLimit = (pay, from) => {
          throwIfFailing(pay)
          return gasLimit(pay, from)
        }
      if (stage === 'sign')
        fixture.signer.sign = async (intent) => {
          throwIfFailing(intent)
          return sign(intent)
        }
      await fixture.mineBlocks(5)
      expect(await fixture.readStatus(valid)).toBe('finished')
      expect(await fixture.readExecution(failing)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
      expect(await findAlarm('payout')).toMatchObject({ detail: { code: 'INTERNAL', reason: 'an unexpected value' } })
      Object.assign(sender, { build, gasLimit })
      fixture.signer.sign = sign
      await fixture.decide(failing, 'release')
      await fixture.mineBlocks(5)
      expect(await fixture.readStatus(failing)).toBe('finished')
      expect([fixture.countEtherPayments(failing), fixture.countEtherPayments(valid)]).toEqual([1, 1])
      await fixture.store.alarms.clear((await findAlarm('payout'))?.subject ?? '')
    },
  )

  test('in a batch holds this payout, and the others are paid', async () => {
    const { sender } = fixture.fakes.btc.chain
    const { build } = sender
    sender.build = (request) => {
      if (request.payments.some(({ address }) => address === 'failing')) throw new TypeError('an unexpected value')
      return build(request)
    }
    await fixture.insertPayout('btc', 10_000n, 'before', 'withdrawal')
    const failingId = await fixture.insertPayout('btc', 10_000n, 'failing', 'withdrawal')
    await fixture.insertPayout('btc', 10_000n, 'after', 'withdrawal')
    await fixture.mineBlocks(4)
    sender.build = build
    const countPaid = () =>
      ['before', 'failing', 'after'].map((address) => fixture.fakes.btc.listPayments(address).length)
    expect(countPaid()).toEqual([1, 0, 1])
    expect(await fixture.store.operator.listHeldPayouts(10)).toMatchObject([{ id: failingId, attention: 'INTERNAL' }])
    await operate.release(failingId, note)
    await fixture.mineBlocks(4)
    expect(countPaid()).toEqual([1, 1, 1])
    expect(await fixture.listAlarmKinds()).not.toContain('payout')
    await expect(operate.release(failingId, note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })
})

describe('a sweep', () => {
  /** A finished exchange whose deposit is deep enough to be swept. */
  async function finishExchange(): Promise<Exchange> {
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
    await fixture.mineBlocks(12)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    return exchange
  }
  const listSweeps = (exchange: Exchange) =>
    fixture.database.query<{ id: string; state: string; attention: string | null }>(
      `select p.id, p.state, p.attention from payouts p join deposit_targets t on t.key_index = p.key_index
       where p.purpose = 'sweep' and t.exchange_id = $1 order by p.created_at`,
      [exchange.id],
    )

  test('that its token or chain rejects (D21) raises an alarm, affects no exchange, and is retried by the operator', async () => {
    const exchange = await finishExchange()
    fixture.fakes.eth.behaviour.revertingRecipient = fixture.fakes.eth.chain.addresses.hot()
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.mineBlocks(2)
    const [rejectedSweep] = await listSweeps(exchange)
    expect(rejectedSweep).toMatchObject({ state: 'reserved', attention: 'SIMULATION_FAILED' })
    expect(await fixture.listAlarmKinds()).toContain('payout')
    expect(await fixture.readStatus(exchange)).toBe('finished')
    // The sweep is not planned a second time.
    await fixture.services.sweep(fixture.fakes.eth.chain)
    expect(await listSweeps(exchange)).toHaveLength(1)
    fixture.fakes.eth.behaviour.revertingRecipient = null
    await operate.release(rejectedSweep?.id ?? '', note)
    await fixture.mineBlocks(5)
    expect(await listSweeps(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(await fixture.listAlarmKinds()).not.toContain('payout')
  })

  // Review item 15: it left nothing behind for a higher fee, so it hung until the fee fell.
  test('that a rise of the fee leaves behind gets gas, and is mined once with a higher fee', async () => {
    const exchange = await finishExchange()
    const { behaviour, chain, mine } = fixture.fakes.eth
    const { dispatch, advance } = fixture.services
    const readTransactionId = async (purpose: string) => {
      const [row] = await fixture.database.query<{ id: string; units: string }>(
        `select transaction_id as id, units from payouts where purpose = $1 and state = 'signed'`,
        [purpose],
      )
      return row ?? { id: '', units: '' }
    }
    behaviour.dropsBroadcasts = true
    await fixture.services.sweep(chain)
    await dispatch('eth')
    const { id } = await readTransactionId('sweep')
    await advance(id)
    behaviour.feeRate = 13n
    await fixture.database.query(
      "update attempts set created_at = created_at - interval '1 day' where transaction_id = $1",
      [id],
    )
    await advance(id)
    await advance(id)
    await dispatch('eth')
    const supply = await readTransactionId('gas')
    // The address has the gas of the first attempt: a transfer's 21,000 at the old rate.
    expect(BigInt(supply.units)).toBe(21_000n * (13n - 10n))
    behaviour.dropsBroadcasts = false
    await advance(supply.id)
    mine()
    await fixture.runWatchers()
    await advance(id)
    const attempts = (await fixture.store.transactions.load(id))?.attempts ?? []
    expect(attempts).toHaveLength(2)
    expect(attempts[1]?.feeUnits).toBeGreaterThan(attempts[0]?.feeUnits ?? 0n)
    behaviour.feeRate = 10n
    await fixture.mineBlocks(5)
    expect(await listSweeps(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(fixture.fakes.eth.balanceOf(exchange.deposit.address, null)).toBeLessThan(21_000n * 13n)
    expect(await fixture.listAlarmKinds()).not.toContain('stuck')
  })

  test('that reverts raises an alarm; when the operator drops it, it is planned again and arrives once', async () => {
    const exchange = await finishExchange()
    fixture.fakes.eth.behaviour.revertsTransactions = true
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.mineBlocks(13)
    fixture.fakes.eth.behaviour.revertsTransactions = false
    const [revertedSweep] = await listSweeps(exchange)
    expect(revertedSweep).toMatchObject({ state: 'reserved', attention: 'REVERTED' })
    expect(await findAlarm('payout')).toMatchObject({ detail: { code: 'REVERTED', purpose: 'sweep' } })
    await operate.drop(revertedSweep?.id ?? '', note)
    expect(await fixture.listAlarmKinds()).not.toContain('payout')
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.mineBlocks(5)
    expect(await listSweeps(exchange)).toMatchObject([{ state: 'void' }, { state: 'confirmed' }])
    expect((await listActs()).slice(-1)).toEqual(['payout drop'])
  })

  test('cannot be dropped after it is signed; a payout of an exchange cannot be dropped', async () => {
    const id = await fixture.insertPayout('eth', 1_000n, 'slow', 'withdrawal')
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    await expect(operate.drop(id, note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(operate.release(id, note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(4)
    const exchange = await fixture.queuePayout()
    fixture.fakes.eth.behaviour.revertingRecipient = exchange.recipient?.address ?? ''
    await fixture.mineBlocks(1)
    const [payout] = await fixture.listPayouts(exchange)
    await expect(operate.drop(payout?.id ?? '', note)).rejects.toThrow(exchange.id)
    fixture.fakes.eth.behaviour.revertingRecipient = null
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(5)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })
})

describe('operator acts', () => {
  test('cannot be updated or deleted', async () => {
    await expect(fixture.database.query("update operator_acts set reason = 'other'")).rejects.toThrow(/append-only/)
    await expect(fixture.database.query('delete from operator_acts')).rejects.toThrow(/append-only/)
  })
})
