import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith, hasProgram } from '../support/describe-with.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { createMovablePrices } from '../support/prices.ts'
import type { Json, Scenario } from '../support/scenario.ts'

const DONE_MS = 180_000
const PRIVACY = { delayMaxMs: 500, withheldMaxPpm: 10_000, stallMs: 3_600_000 }
const hasMonero = hasProgram('monerod')
const hasLitecoin = hasProgram('litecoind')
/** One of them is enough. */
const intermediary = hasMonero ? 'monerod' : 'litecoind'
const between = ['base', ...(hasLitecoin ? ['ltc'] : []), ...(hasMonero ? ['xmr'] : [])]
const networks = ['btc', 'eth', ...between]

describeWith(intermediary, 'a private exchange', { timeout: 300_000 }, () => {
  let scenario: Scenario
  const prices = createMovablePrices()
  beforeAll(async () => {
    scenario = await startScenarioAloneOn('base', { networks, prices, settings: { privacy: PRIVACY } })
  }, LOCK_MS)
  afterAll(() => scenario?.stop())

  const pair = (from: string, to: string) => {
    const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [from.split('@'), to.split('@')]
    return { fromCurrency, fromNetwork, toCurrency, toNetwork }
  }
  const quote = (from: string, to: string, amount: string, privateType: string) =>
    scenario.call(
      'GET',
      `/v1/cross-chain/rate/private?${new URLSearchParams({ ...pair(from, to), amount, privateType } as Record<string, string>)}`,
    )
  const create = async (from: string, to: string, fromAmount: string, rest: Record<string, string>): Promise<Json> => {
    const answer = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
      ...pair(from, to),
      fromAmount,
      ...rest,
    })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    expect(answer.body).toMatchObject({ exchangeType: 'private', status: 'pending', exchanges: [] })
    return answer.body
  }
  const get = async (path: string, id: string) => scenario.call('GET', `/v1/cross-chain/exchange/${path}?id=${id}`)

  async function isListed({ id }: Json, filter: Record<string, string | undefined>): Promise<boolean> {
    const query = new URLSearchParams(filter as Record<string, string>)
    const { status, body } = await scenario.call('GET', `/v1/cross-chain/exchange/list?${query}`)
    expect([status, body.total]).toEqual([200, body.data.length])
    return body.data.some((one: Json) => one.id === id)
  }

  /** Both legs, each with an item of its own, and the recipient has what the second one says. */
  async function arrives(from: string, to: string, amount: string, privateType: string): Promise<void> {
    const { body: quoted, status } = await quote(from, to, amount, privateType)
    expect(status, JSON.stringify(quoted)).toBe(200)
    expect(quoted).not.toHaveProperty('rateId')
    expect(quoted.expectedSeconds).toBeGreaterThan(0)
    const { address } = await scenario.wallet(to.split('@')[1] ?? '')
    const exchange = await create(from, to, amount, { address, privateType })
    expect(exchange.request.amountToRequested).toBe(String(quoted.toAmount))
    await scenario.deposit(exchange, amount)
    const done = await scenario.settles(exchange, 'finished', DONE_MS)
    const [first, second, ...more] = done.exchanges
    expect(more).toEqual([])
    expect([first.status, second.status]).toEqual(['finished', 'finished'])
    expect(first.amountFromReceived).toBe(amount)
    expect(second.payinHash).toBe(first.payoutHash)
    expect(second.amountFromReceived).toBe(first.amountToReceived)
    expect(await scenario.balance(to, address)).toBe(second.amountToReceived)
    // Prices stand still, but for fees: what was estimated is what came, within a thousandth.
    expect(Math.abs(Number(second.amountToReceived) / quoted.toAmount - 1)).toBeLessThan(0.001)
    expect((await get('status', exchange.id)).body).toMatchObject({ type: 'private', exchange: { id: exchange.id } })
    expect((await get('status/private', exchange.id)).body.status).toBe('finished')
    expect((await get('status/standard', exchange.id)).status).toBe(404)
    const expected = { ...pair(from, to), exchangeType: 'private', status: 'finished' }
    expect(await isListed(exchange, expected)).toBe(true)
    for (const other of [{ exchangeType: 'standard' }, { status: 'refunded' }, { toNetwork: 'celo' }])
      expect(await isListed(exchange, { ...expected, ...other })).toBe(false)
    await expectReasons(exchange, privateType, [from, to])
    await scenario.invariants()
  }

  /** What was chosen and why stands with the exchange: every candidate, with what it would have paid or why it could not. */
  async function expectReasons({ id }: Json, privateType: string, ends: readonly string[]): Promise<void> {
    const [row] = await scenario.app.database.query<Json>('select legs, plan from exchanges where id = $1', [id])
    const { id: via } = row.legs[0].to
    expect(ends).not.toContain(via)
    expect(row.plan.privateType).toBe(privateType)
    const priced = new Map<string, Json>(
      row.plan.considered.filter(({ refused }: Json) => !refused).map((one: Json) => [one.assetId, one]),
    )
    expect(priced.get(via).seconds).toBeGreaterThan(0)
    // Cheapest, but for what half a basis point a minute makes of its wait.
    const least = (BigInt(priced.get(via).toUnits) * 1_005n) / 1_000n
    for (const { toUnits } of priced.values()) expect(BigInt(toUnits)).toBeLessThan(least)
    if (privateType === 'privatePlus') return expect([...priced.keys()]).toEqual(['xmr@xmr'])
    const refused = row.plan.considered.filter(({ refused }: Json) => refused === 'SAME_NETWORK')
    expect(refused.length).toBeGreaterThan(0)
  }

  test('of bitcoin arrives as ether through the cheapest and fastest, and of ether as bitcoin', async () => {
    await arrives('btc@btc', 'eth@eth', '0.01', 'efficient')
    await arrives('eth@eth', 'btc@btc', '0.5', 'efficient')
  })

  describeWith('monerod', 'through monero', () => {
    test('of bitcoin arrives as ether', async () => {
      await arrives('btc@btc', 'eth@eth', '0.01', 'privatePlus')
    })

    test('of ether arrives as bitcoin', async () => {
      await arrives('eth@eth', 'btc@btc', '0.5', 'privatePlus')
    })

    test.skipIf(!hasLitecoin)('of usd coin on base arrives as litecoin', async () => {
      await arrives('usdc@base', 'ltc@ltc', '300', 'privatePlus')
    })
  })

  test('of usd coin on base arrives as ether on ethereum, from a wallet of another key', async () => {
    await arrives('usdc@base', 'eth@eth', '300', 'efficient')
    const hot = ['base', 'eth'].map((network) => scenario.app.chains.get(network)?.addresses.hot())
    expect(hot[0]).not.toBe(hot[1])
  })

  test('whose target cannot be paid any more goes back from its second leg, in the source coin', async () => {
    const [{ address }, back] = [await scenario.wallet('eth'), await scenario.wallet('btc')]
    const exchange = await create('btc@btc', 'pepe@eth', '0.01', { address, refundAddress: back.address })
    const sells = async () => (await quote('btc@btc', 'pepe@eth', '0.01', 'efficient')).body.max >= 0.01
    const { database, store } = scenario.app
    // Nothing is paid between the legs before the price has fallen, however long either takes.
    const scopes = between.map((network) => `payouts:${network}`)
    for (const scope of scopes) await store.pauses.pause(scope, 'the price falls first', 'the test')
    try {
      await scenario.deposit(exchange, '0.01')
      const reserved = "select 1 from payouts where exchange_id = $1 and leg = 0 and state = 'reserved'"
      const converted = async () => (await database.query(reserved, [exchange.id])).length === 1
      await scenario.until('the first leg is converted', converted, DONE_MS)
      expect(await sells()).toBe(true)
      // At a hundredth of its value the currency's reserve no longer covers the amount.
      prices.move('pepe', -99n)
      await scenario.until('the price has fallen', async () => !(await sells()))
    } finally {
      for (const scope of scopes) await store.pauses.resume(scope)
    }
    const { exchanges } = await scenario.settles(exchange, 'refunded', DONE_MS).finally(async () => {
      prices.move('pepe', 0n)
      await scenario.until('the price is back', sells)
    })
    expect(exchanges.map(({ status }: Json) => status)).toEqual(['finished', 'refunded'])
    const { refund } = exchanges[1]
    expect(refund).toMatchObject({ currency: 'btc', network: 'btc', address: back.address })
    expect(await scenario.balance('btc@btc', back.address)).toBe(refund.amount)
    expect(await scenario.balance('pepe@eth', address)).toBe('0')
    // Both spreads and both network fees, and nothing else.
    expect(Number(refund.amount)).toBeGreaterThan(0.0097)
    await scenario.invariants()
  })

  describeWith('monerod', 'with monero', () => {
    test('whose monero leaves the chain between the legs arrives once', async () => {
      const { address } = await scenario.wallet('eth')
      const exchange = await create('btc@btc', 'eth@eth', '0.01', { address, privateType: 'privatePlus' })
      await scenario.deposit(exchange, '0.01')
      await scenario.until(
        'the second leg has its deposit',
        async () => (await scenario.status(exchange)).exchanges.length === 2,
        DONE_MS,
      )
      await scenario.reorg('xmr', 3)
      const { exchanges } = await scenario.settles(exchange, 'finished', DONE_MS)
      expect(exchanges).toHaveLength(2)
      expect(exchanges[1].payinHash).toBe(exchanges[0].payoutHash)
      expect(await scenario.balance('eth@eth', address)).toBe(exchanges[1].amountToReceived)
      await scenario.invariants()
    })

    test('of monero, or for it, is not served by monero, and is by another', async () => {
      for (const [from, to] of [
        ['xmr@xmr', 'eth@eth'],
        ['eth@eth', 'xmr@xmr'],
      ] as const) {
        const { status, body } = await quote(from, to, '1', 'privatePlus')
        expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'privateType'])
        expect(body.message).toContain('use privateType efficient')
      }
      await arrives('xmr@xmr', 'eth@eth', '2', 'efficient')
      await arrives('eth@eth', 'xmr@xmr', '0.5', 'efficient')
    })
  })

  test('between two ends of one network is refused, by quotes and creates alike, and says what there is instead', async () => {
    const quoted = await quote('usdt@eth', 'eth@eth', '100', 'efficient')
    const created = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
      ...pair('usdt@eth', 'eth@eth'),
      fromAmount: '100',
    })
    for (const { status, body } of [quoted, created]) {
      expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'toNetwork'])
      expect(body.message).toMatch(/^eth and eth share one hot wallet, .*: use a standard exchange$/)
    }
  })

  test('neither looks at a rateId nor uses it up', async () => {
    const { address } = await scenario.wallet('eth')
    const { rateId } = await scenario.rate('btc@btc', 'eth@eth', '0.01', 'fixed-rate')
    const first = await create('btc@btc', 'eth@eth', '0.01', { address, rateId })
    const second = await create('btc@btc', 'eth@eth', '0.02', { address, rateId })
    expect(second.id).not.toBe(first.id)
    await create('btc@btc', 'eth@eth', '0.01', { address, rateId: 'none of ours' })
    const standard = await scenario.create({
      from: 'btc@btc',
      to: 'eth@eth',
      amount: '0.01',
      flow: 'fixed-rate',
      rateId,
    })
    expect(standard).toMatchObject({ exchangeType: 'standard', request: { flow: 'fixed-rate' } })
  })

  test('of too little goes back on its first leg', async () => {
    const { address } = await scenario.wallet('eth')
    const back = await scenario.wallet('btc')
    const exchange = await create('btc@btc', 'eth@eth', '0.01', { address, refundAddress: back.address })
    const { body } = await quote('btc@btc', 'eth@eth', '0.01', 'efficient')
    await scenario.deposit(exchange, (body.min * 0.9).toFixed(8))
    const { exchanges } = await scenario.settles(exchange, 'refunded', DONE_MS)
    expect(exchanges).toHaveLength(1)
    expect(await scenario.balance('btc@btc', back.address)).toBe(exchanges[0].refund.amount)
    await scenario.invariants()
  })

  // The last: it takes all that there is.
  test('of exactly the least, and of exactly the most, arrives', async () => {
    for (const bound of ['min', 'max'] as const) {
      const { body } = await quote('eth@eth', 'btc@btc', '0.5', 'efficient')
      const { address } = await scenario.wallet('btc')
      const amount = String(body[bound])
      const exchange = await create('eth@eth', 'btc@btc', amount, { address })
      await scenario.deposit(exchange, amount)
      const { exchanges } = await scenario.settles(exchange, 'finished', DONE_MS)
      expect(exchanges).toHaveLength(2)
      expect(await scenario.balance('btc@btc', address)).toBe(exchanges[1].amountToReceived)
      await scenario.invariants()
    }
  })
})
