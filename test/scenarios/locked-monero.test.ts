import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetId } from '../../server/src/core/domain/asset.ts'
import { present } from '../../server/src/lib/assert.ts'
import { call, startPayer } from '../../server/test/adapters/chains/monero/payer.ts'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

const MILLI = 10n ** 9n
const XMR = assetId('xmr', 'xmr')
/** Seconds that a node adds to the chain's time when it checks a time lock (CRYPTONOTE_LOCKED_TX_ALLOWED_DELTA_SECONDS_V2). */
const DELTA_SECONDS = 120

describeWith('monerod', 'locked outputs at the hot address', () => {
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

  test('are not available for payouts before they are spendable', async () => {
    const { store, chains } = scenario.app
    const hot = present(chains.get('xmr'), 'the chain').addresses.hot()
    const readAvailable = async () => (await store.inventory.available()).get(XMR) ?? 0n
    const readChainInfo = async () => (await call('get_info', {})) as { height: number; adjusted_time: number }
    const before = await readAvailable()
    const { height, adjusted_time: time } = await readChainInfo()
    const [afterBlocks, afterTime, afterYears] = [height + 20, time + DELTA_SECONDS + 30, height + 1_000_000]
    const amounts = { free: 40n, byHeight: 100n, byTime: 200n, never: 50n }
    const locks = { free: 0, byHeight: afterBlocks, byTime: afterTime, never: afterYears }
    const names = ['free', 'byHeight', 'byTime', 'never'] as const
    for (const name of names)
      await external.transfer([{ address: hot, amount: amounts[name] * MILLI }], { unlock_time: locks[name] })
    const namesBySum = new Map<bigint, readonly (typeof names)[number][]>(
      Array.from({ length: 16 }, (_, n) => {
        const subset = names.filter((_name, at) => (n >> at) % 2 === 1)
        return [subset.reduce((sum, name) => sum + amounts[name] * MILLI, 0n), subset]
      }),
    )
    await scenario.until(
      'all spendable outputs are available',
      async () => {
        const available = present(
          namesBySum.get((await readAvailable()) - before),
          'a sum of whole outputs is available',
        )
        // Read the chain last: it was not higher when the available amount was read.
        const chain = await readChainInfo()
        if (available.includes('byHeight')) expect(chain.height).toBeGreaterThanOrEqual(afterBlocks)
        if (available.includes('byTime')) expect(chain.adjusted_time + DELTA_SECONDS).toBeGreaterThanOrEqual(afterTime)
        expect(available).not.toContain('never')
        return available.length === 3
      },
      1.5 * PATIENCE_MS,
    )
    // The ledger has no output that cannot be spent.
    await scenario.checkInvariants(new Map([[XMR, amounts.never * MILLI]]))
  })
})
