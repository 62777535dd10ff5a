import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { belowMin, expectRefund } from '../support/facts.ts'
import { startWorld, type World } from '../support/world.ts'

const CONFIRMED_MS = 120_000

describeWith('monerod', 'bitcoin and monero', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ networks: ['btc', 'xmr'] })
  })
  afterAll(() => world.stop())

  test('bitcoin arrives as monero, to several recipients at once', async () => {
    const wallets = await Promise.all([1, 2, 3].map(() => world.wallet('xmr')))
    const exchanges = await Promise.all(
      wallets.map(({ address }) => world.create({ from: 'btc@btc', to: 'xmr@xmr', amount: '0.004', address })),
    )
    for (const exchange of exchanges) await world.deposit(exchange, '0.004')
    for (const [n, exchange] of exchanges.entries()) {
      const { exchanges: items } = await world.settles(exchange, 'finished', CONFIRMED_MS)
      expect(items).toHaveLength(1)
      expect(items[0].amountFromReceived).toBe('0.004')
      expect(await world.balance('xmr@xmr', wallets[n]?.address ?? '')).toBe(items[0].amountToReceived)
    }
    await world.invariants()
  })

  test('monero arrives as bitcoin, and what was deposited pays the next', async () => {
    const { address } = await world.wallet('btc')
    const exchange = await world.create({ from: 'xmr@xmr', to: 'btc@btc', amount: '2', address })
    await world.deposit(exchange, '2')
    const { exchanges } = await world.settles(exchange, 'finished', CONFIRMED_MS)
    expect(exchanges).toHaveLength(1)
    expect(exchanges[0].amountFromReceived).toBe('2')
    expect(await world.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
    await world.invariants()
  })

  test('too little goes back to a refund address of monero', async () => {
    const [target, back] = [await world.wallet('btc'), await world.wallet('xmr')]
    const exchange = await world.create({
      from: 'xmr@xmr',
      to: 'btc@btc',
      amount: '2',
      address: target.address,
      refundAddress: back.address,
    })
    const amount = await belowMin(world, 'xmr@xmr', 'btc@btc', 12)
    await expectRefund(
      world,
      { currency: 'xmr@xmr', amount, address: back.address, quoteFrom: 'btc@btc', decimals: 12 },
      async () => {
        await world.deposit(exchange, amount)
        const { statusReason } = await world.settles(exchange, 'refunded', CONFIRMED_MS)
        expect(statusReason).toBe('BELOW_MIN')
      },
    )
    await world.invariants()
  })
})
