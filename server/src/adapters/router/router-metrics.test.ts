import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createRouterMetrics } from './router-metrics.ts'

it('reports NaN blocks behind for pools without a read in the last 30 s', async () => {
  const registry = new Registry()
  const metrics = createRouterMetrics(registry)
  const at = { pools: 3, height: 98, head: 100 }
  metrics.poolsAt('eth', { ...at, readAtMs: Date.now() })
  metrics.poolsAt('sonic', { ...at, readAtMs: Date.now() - 107_000 })
  const lines = (await registry.metrics()).split('\n')
  const blocksOf = (network: string) =>
    Number(lines.find((line) => line.startsWith(`swapyard_pools_behind_blocks{network="${network}"}`))?.split(' ')[1])
  expect([blocksOf('eth'), blocksOf('sonic')]).toEqual([2, Number.NaN])
  // The node has recovered.
  metrics.poolsAt('sonic', { ...at, readAtMs: Date.now() })
  expect(await registry.metrics()).toContain('swapyard_pools_behind_blocks{network="sonic"} 2')
})
