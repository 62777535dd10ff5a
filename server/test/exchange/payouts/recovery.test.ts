import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { AssetId } from '../../../src/core/domain/asset.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import type { PayoutPurpose } from '../../../src/exchange/ports/store/execution.ts'
import { InvariantError } from '../../../src/lib/assert.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const word = { actor: 'anna', reason: 'looked at it' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperatePayouts>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperatePayouts(fixture.store)
  await fixture.fill({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const paid = (exchange: Exchange) => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const unhold = () => fixture.database.query('update payouts set held_until = null where held_until is not null')
const acts = async () =>
  (await fixture.database.query<{ act: string }>('select act from operator_acts order by id')).map(({ act }) => act)
const alarm = async (kind: string) =>
  (await fixture.store.alarms.list(100)).find(({ subject }) => subject.startsWith(`${kind}:`))

/** An exchange whose payout waits to be signed. */
async function waiting(): Promise<Exchange> {
  const exchange = await fixture.order()
  fixture.deposit(exchange, SMALL)
  await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
  await fixture.blocks(2)
  await fixture.store.pauses.resume('payouts:eth')
  await unhold()
  return exchange
}

async function ours(network: 'btc' | 'eth', units: bigint, address: string, purpose: PayoutPurpose): Promise<string> {
  const id = randomUUID()
  await fixture.store.payouts.insert({
    id,
    exchangeId: null,
    executionId: null,
    depositId: null,
    leg: null,
    purpose,
    network,
    assetId: `${network}@${network}` as AssetId,
    from: 'hot',
    address,
    memo: null,
    units,
  })
  return id
}

describe('a violated assumption in one payout', () => {
  test.each(['build', 'gasLimit', 'sign'] as const)('of %s holds that one, and the queue goes on', async (place) => {
    const [bad, good] = [await waiting(), await waiting()]
    const isBad = (text: string) => text.includes(`"${bad.recipient?.address}"`)
    const text = (value: unknown) => JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? `${one}` : one))
    const { sender } = fixture.fakes.eth.chain
    const { build, gasLimit } = sender
    const { sign } = fixture.signer
    const guard = (value: unknown) => {
      if (isBad(text(value))) throw new InvariantError('an unexpected value')
    }
    if (place === 'build')
      sender.build = (request) => {
        guard(request)
        return build(request)
      }
    if (place === 'gasLimit')
      sender.gasLimit = (pay, from) => {
        guard(pay)
        return gasLimit(pay, from)
      }
    if (place === 'sign')
      fixture.signer.sign = async (intent) => {
        guard(intent)
        return sign(intent)
      }
    await fixture.blocks(5)
    expect(await fixture.status(good)).toBe('finished')
    expect(await fixture.execution(bad)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await alarm('payout')).toMatchObject({ detail: { code: 'INTERNAL', reason: 'an unexpected value' } })
    Object.assign(sender, { build, gasLimit })
    fixture.signer.sign = sign
    await fixture.decide(bad, 'release')
    await fixture.blocks(5)
    expect(await fixture.status(bad)).toBe('finished')
    expect([paid(bad), paid(good)]).toEqual([1, 1])
    await fixture.store.alarms.clear((await alarm('payout'))?.subject ?? '')
  })

  test('of a batch is found in it', async () => {
    const { sender } = fixture.fakes.btc.chain
    const { build } = sender
    sender.build = (request) => {
      if (request.payments.some(({ address }) => address === 'poison')) throw new TypeError('poison')
      return build(request)
    }
    const poison = await (async () => {
      await ours('btc', 10_000n, 'before', 'withdrawal')
      const id = await ours('btc', 10_000n, 'poison', 'withdrawal')
      await ours('btc', 10_000n, 'after', 'withdrawal')
      return id
    })()
    await fixture.blocks(4)
    sender.build = build
    const counts = () => ['before', 'poison', 'after'].map((address) => fixture.fakes.btc.paidTo(address).length)
    expect(counts()).toEqual([1, 0, 1])
    expect(await fixture.store.operator.listHeldPayouts(10)).toMatchObject([{ id: poison, attention: 'INTERNAL' }])
    await operate.release(poison, word)
    await fixture.blocks(4)
    expect(counts()).toEqual([1, 1, 1])
    expect(await fixture.alarms()).not.toContain('payout')
    await expect(operate.release(poison, word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  })
})

describe('a sweep', () => {
  /** A deposit that is deep enough to be swept, its payout made. */
  async function deposited(): Promise<Exchange> {
    const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 10n })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
    await fixture.blocks(12)
    expect(await fixture.status(exchange)).toBe('finished')
    return exchange
  }
  const sweepsOf = (exchange: Exchange) =>
    fixture.database.query<{ id: string; state: string; attention: string | null }>(
      `select p.id, p.state, p.attention from payouts p join deposit_targets t on t.key_index = p.key_index
       where p.purpose = 'sweep' and t.exchange_id = $1 order by p.created_at`,
      [exchange.id],
    )

  test('that its token or its chain refuses (D21) is an alarm, harms no exchange, and is tried again by a person', async () => {
    const exchange = await deposited()
    fixture.fakes.eth.knobs.gasRefused = fixture.fakes.eth.chain.addresses.hot()
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.blocks(2)
    const [refused] = await sweepsOf(exchange)
    expect(refused).toMatchObject({ state: 'reserved', attention: 'SIMULATION_FAILED' })
    expect(await fixture.alarms()).toContain('payout')
    expect(await fixture.status(exchange)).toBe('finished')
    // Nor is it planned a second time.
    await fixture.services.sweep(fixture.fakes.eth.chain)
    expect(await sweepsOf(exchange)).toHaveLength(1)
    fixture.fakes.eth.knobs.gasRefused = null
    await operate.release(refused?.id ?? '', word)
    await fixture.blocks(5)
    expect(await sweepsOf(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(await fixture.alarms()).not.toContain('payout')
  })

  test('that reverted is an alarm; given up, it is planned again and arrives once', async () => {
    const exchange = await deposited()
    fixture.fakes.eth.knobs.reverts = true
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.blocks(13)
    fixture.fakes.eth.knobs.reverts = false
    const [reverted] = await sweepsOf(exchange)
    expect(reverted).toMatchObject({ state: 'reserved', attention: 'REVERTED' })
    expect(await alarm('payout')).toMatchObject({ detail: { code: 'REVERTED', purpose: 'sweep' } })
    await operate.drop(reverted?.id ?? '', word)
    expect(await fixture.alarms()).not.toContain('payout')
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.blocks(5)
    expect(await sweepsOf(exchange)).toMatchObject([{ state: 'void' }, { state: 'confirmed' }])
    expect((await acts()).slice(-1)).toEqual(['payout drop'])
  })

  test('that is signed cannot be given up, nor can one of an exchange', async () => {
    const id = await ours('eth', 1_000n, 'slow', 'withdrawal')
    fixture.fakes.eth.knobs.deaf = true
    await fixture.work()
    await expect(operate.drop(id, word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(operate.release(id, word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    fixture.fakes.eth.knobs.deaf = false
    await fixture.blocks(4)
    const exchange = await waiting()
    fixture.fakes.eth.knobs.gasRefused = exchange.recipient?.address ?? ''
    await fixture.blocks(1)
    const [payout] = await fixture.payouts(exchange)
    await expect(operate.drop(payout?.id ?? '', word)).rejects.toThrow(exchange.id)
    fixture.fakes.eth.knobs.gasRefused = null
    await fixture.decide(exchange, 'release')
    await fixture.blocks(5)
    expect(paid(exchange)).toBe(1)
  })
})

describe('what an operator did', () => {
  test('is never changed', async () => {
    await expect(fixture.database.query("update operator_acts set reason = 'other'")).rejects.toThrow(/append-only/)
    await expect(fixture.database.query('delete from operator_acts')).rejects.toThrow(/append-only/)
  })
})
