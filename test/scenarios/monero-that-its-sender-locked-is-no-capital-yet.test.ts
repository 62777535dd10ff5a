import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetId } from '../../server/src/core/domain/asset.ts'
import { present } from '../../server/src/lib/assert.ts'
import { call, startPayer } from '../../server/test/adapters/chains/monero/payer.ts'
import { describeWith } from '../support/describe-with.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

const MILLI = 10n ** 9n
const XMR = assetId('xmr', 'xmr')
/** What a node adds to its chain's time when it compares a lock by the clock (CRYPTONOTE_LOCKED_TX_ALLOWED_DELTA_SECONDS_V2). */
const DELTA_SECONDS = 120

describeWith('monerod', 'coins of an outsider at the hot address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-external-'))
  let scenario: Scenario
  let external: Awaited<ReturnType<typeof startPayer>>
  beforeAll(async () => {
    ;[scenario, external] = await Promise.all([startScenario({ networks: ['xmr'] }), startPayer(folder)])
  })
  afterAll(async () => {
    await Promise.all([external?.stop(), scenario?.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  test('are nothing that can be promised before they can be spent', async () => {
    const { store, chains } = scenario.app
    const hot = present(chains.get('xmr'), 'the chain').addresses.hot()
    const offered = async () => (await store.inventory.available()).get(XMR) ?? 0n
    const now = async () => (await call('get_info', {})) as { height: number; adjusted_time: number }
    const before = await offered()
    const { height, adjusted_time: time } = await now()
    const [afterBlocks, afterTime, afterYears] = [height + 20, time + DELTA_SECONDS + 30, height + 1_000_000]
    const parts = { free: 40n, byHeight: 100n, byTime: 200n, never: 50n }
    const locks = { free: 0, byHeight: afterBlocks, byTime: afterTime, never: afterYears }
    const names = ['free', 'byHeight', 'byTime', 'never'] as const
    for (const name of names)
      await external.transfer([{ address: hot, amount: parts[name] * MILLI }], { unlock_time: locks[name] })
    const sums = new Map<bigint, readonly (typeof names)[number][]>(
      Array.from({ length: 16 }, (_, n) => {
        const some = names.filter((_name, at) => (n >> at) % 2 === 1)
        return [some.reduce((sum, name) => sum + parts[name] * MILLI, 0n), some]
      }),
    )
    await scenario.until(
      'all are counted that can be spent',
      async () => {
        const counted = present(sums.get((await offered()) - before), 'whole coins are counted')
        // Looked at after what is offered: the chain was no further then.
        const chain = await now()
        if (counted.includes('byHeight')) expect(chain.height).toBeGreaterThanOrEqual(afterBlocks)
        if (counted.includes('byTime')) expect(chain.adjusted_time + DELTA_SECONDS).toBeGreaterThanOrEqual(afterTime)
        expect(counted).not.toContain('never')
        return counted.length === 3
      },
      150_000,
    )
  })
})
