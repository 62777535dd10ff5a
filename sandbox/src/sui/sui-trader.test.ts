import { cetusPoolSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { expect, test, vi } from 'vitest'
import { createCetusFunctions } from './cetus-functions.ts'
import { cetusPackage, createSuiMarket, sqrtPriceOf } from './market.ts'
import { startTestNode } from './sui-node.fixture.ts'
import { createSuiTrader } from './sui-trader.ts'

test('the trader moves every pool to the price of the moment, up or down, within half its fee', async () => {
  const { node, client } = await startTestNode({ functions: createCetusFunctions(cetusPackage) })
  const market = createSuiMarket(node)
  const trader = createSuiTrader(node, market, false)
  const readPrices = () =>
    Promise.all(
      market.pools.map(async ({ id }) => {
        const { object } = await client.getObject({ objectId: id, include: { content: true } })
        return Number(cetusPoolSchema.parse(object.content).sqrtPrice)
      }),
    )
  const directions = new Set<string>()
  let before = await readPrices()
  // Hours apart, so that the prices differ.
  for (const hours of [1, 5, 9, 14]) {
    vi.spyOn(Date, 'now').mockReturnValue((1_800_000_000 + hours * 3_600) * 1000)
    for (let block = 0; block < 4 * market.pools.length; block++) await trader.trade()
    const after = await readPrices()
    for (const [n, pool] of market.pools.entries()) {
      const target = Number(sqrtPriceOf(pool.coins, 1_800_000_000 + hours * 3_600))
      const price = after[n] ?? 0
      expect(Math.abs(price / target - 1) * 2e6).toBeLessThanOrEqual(Math.min(pool.feeRate, 2000) + 1)
      directions.add(`${pool.coins[0].ticker} ${price > (before[n] ?? 0)}`)
    }
    before = after
  }
  expect(directions.size).toBeGreaterThan(4)
  vi.restoreAllMocks()
})
