import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createRouterMetrics } from './router-metrics.ts'

it('says that nobody knows how far behind pools are whose node has told nothing for long', async () => {
  const registry = new Registry()
  const metrics = createRouterMetrics(registry)
  const at = { pools: 3, height: 98, head: 100 }
  metrics.poolsAt('eth', { ...at, readAtMs: Date.now() })
  metrics.poolsAt('sonic', { ...at, readAtMs: Date.now() - 107_000 })
  const lines = (await registry.metrics()).split('\n')
  const blocksOf = (network: string) =>
    Number(lines.find((line) => line.startsWith(`swapyard_pools_behind_blocks{network="${network}"}`))?.split(' ')[1])
  expect([blocksOf('eth'), blocksOf('sonic')]).toEqual([2, Number.NaN])
  // Its node is back.
  metrics.poolsAt('sonic', { ...at, readAtMs: Date.now() })
  expect(await registry.metrics()).toContain('swapyard_pools_behind_blocks{network="sonic"} 2')
})
