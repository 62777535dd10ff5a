import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpoints } from '../../server/src/lib/checkpoint.ts'
import { type Ground, startGround } from '../chaos/ground.ts'
import { withFleet } from '../chaos/run.ts'
import { openShop } from '../chaos/shop.ts'
import { tourOfPoints } from '../chaos/tour.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

test('F1: processes killed at every named point pay everything exactly once', async () => {
  await withFleet(ground, { apis: 2, workers: 2 }, async ({ fleet, client, customers, wrong }) => {
    const shop = await openShop(client, customers, { everyMs: 700 })
    const { missed } = await tourOfPoints(fleet)
    await shop.close()
    expect(missed).toEqual([])
    const killed = new Set(fleet.all.flatMap((one) => [...one.points().killed]))
    expect([...killed].sort()).toEqual([...checkpoints].sort())
    expect(shop.refused()).toEqual([])
    expect(await wrong()).toEqual([])
  })
}, 360_000)
