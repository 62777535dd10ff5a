import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ground, startGround } from '../chaos/ground.ts'
import { withFleet } from '../chaos/run.ts'
import { openShop } from '../chaos/shop.ts'
import { badWeather, storm } from '../chaos/storm.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

test('F2, F3, F8: killed processes, a crashing Postgres and deep reorganisations together cost nobody anything', async () => {
  await withFleet(ground, { apis: 2, workers: 3 }, async ({ fleet, client, customers, wrong }) => {
    const shop = await openShop(client, customers, { everyMs: 1_000 })
    const { kills, crashes, reorgs } = await storm(fleet, badWeather, 25_000)
    await shop.close()
    expect([kills, crashes, reorgs].map((count) => count > 0)).toEqual([true, true, true])
    expect(shop.refused()).toEqual([])
    expect(await wrong()).toEqual([])
  })
}, 360_000)
