import { expect, it } from 'vitest'
import { createPoolLookup } from './admit-pools.ts'
import type { SolanaNodes } from './nodes.ts'

it('forgets why an unlisted mint is refused when it forgets the search', async () => {
  const asked: string[] = []
  const lookup = createPoolLookup({
    nodes: {} as SolanaNodes,
    ...{ dexes: [], listing: { wrapped: 'SOL', connectors: new Set(['SOL']), listed: new Set<string>() } },
    read: async () => ({
      ...{ slot: 1, pools: new Map(), faults: new Map() },
      refusals: new Map([[asked.at(-1) ?? '', 'it can be paused']]),
    }),
    ...{ onFault: () => undefined, now: () => 0, searchedMax: 3 },
  })
  for (const mint of ['A', 'B', 'C', 'D']) {
    asked.push(mint)
    lookup.request(mint)
    await lookup.run()
  }
  expect([...lookup.refused().keys()]).toEqual(['B', 'C', 'D'])
})
