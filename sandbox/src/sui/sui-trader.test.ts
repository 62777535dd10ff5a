import { bcs } from '@mysten/sui/bcs'
import type { SuiGrpcClient } from '@mysten/sui/grpc'
import { cetusPoolSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import {
  deepbookInnerSchema,
  deepbookPoolSchema,
  readDeepbookOrders,
  toDeepbookOrder,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { turbosPoolSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { expect, test, vi } from 'vitest'
import { bookPriceOf } from './books.ts'
import { createSuiMarket, dexFunctions, sqrtPriceOf } from './market.ts'
import { startTestNode } from './sui-node.fixture.ts'
import { createSuiTrader } from './sui-trader.ts'

/** The best bid and ask of a book, as a client reads them. */
async function readBest(client: SuiGrpcClient, pool: string) {
  const { object } = await client.getObject({ objectId: pool, include: { content: true } })
  const { inner } = deepbookPoolSchema.parse(object.content)
  const name = { type: 'u64', bcs: bcs.u64().serialize(inner.version).toBytes() }
  const { dynamicField } = await client.getDynamicField({ parentId: inner.id, name })
  const { book } = deepbookInnerSchema.parse(dynamicField.value.bcs)
  const readSide = async (parentId: string, isBid: boolean) => {
    const { dynamicFields } = await client.listDynamicFields({ parentId, include: { value: true } })
    const nodes = dynamicFields.map(({ fieldId, type, name: key, value }) => ({
      type,
      contents: Uint8Array.of(...bcs.Address.serialize(fieldId).toBytes(), ...key.bcs, ...value.bcs),
    }))
    return Number(toDeepbookOrder(readDeepbookOrders(nodes, isBid)[0] as never).price)
  }
  const best = await Promise.all([readSide(book.bids.id, true), readSide(book.asks.id, false)])
  return { best, isCrossed: best[0] >= best[1] }
}

test('the trader moves every pool to the price of the moment, up or down, within half its fee, and every book', async () => {
  const { node, client } = await startTestNode({ functions: dexFunctions })
  const market = createSuiMarket(node)
  const trader = createSuiTrader(node, market, false)
  const readPrices = () =>
    Promise.all(
      market.pools.map(async ({ id, dex }) => {
        const { object } = await client.getObject({ objectId: id, include: { content: true } })
        const schema = dex === 'cetus' ? cetusPoolSchema : turbosPoolSchema
        return Number(schema.parse(object.content).sqrtPrice)
      }),
    )
  const directions = new Set<string>()
  let before = await readPrices()
  // Hours apart, so that the prices differ.
  for (const hours of [1, 5, 9, 14]) {
    vi.spyOn(Date, 'now').mockReturnValue((1_800_000_000 + hours * 3_600) * 1000)
    for (let block = 0; block < 4 * (market.pools.length + market.books.length); block++) await trader.trade()
    const after = await readPrices()
    for (const [n, pool] of market.pools.entries()) {
      const target = Number(sqrtPriceOf(pool.coins, 1_800_000_000 + hours * 3_600))
      const price = after[n] ?? 0
      expect(Math.abs(price / target - 1) * 2e6).toBeLessThanOrEqual(Math.min(pool.feeRate, 2000) + 1)
      directions.add(`${pool.coins[0].ticker} ${price > (before[n] ?? 0)}`)
    }
    before = after
    for (const { id, coins } of market.books) {
      const { best, isCrossed } = await readBest(client, id)
      expect(isCrossed).toBe(false)
      const target = Number(bookPriceOf(coins, 1_800_000_000 + hours * 3_600))
      // The nearest orders are at most 500 millionths away, and within a tick of that.
      for (const price of best) expect(Math.abs(price / target - 1)).toBeLessThan(0.000_51)
    }
  }
  expect(directions.size).toBeGreaterThan(4)
  vi.restoreAllMocks()
})
