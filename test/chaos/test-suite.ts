import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import { createRandom } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { openRun, type Run } from './run.ts'
import type { Suite, SuiteContext } from './suite.ts'

const ignore = () => undefined
const SHORT: Omit<SuiteContext, 'random'> = { randomMs: 25_000, isThorough: false, log: ignore, note: ignore }
const TIMEOUT_MS = 8 * PATIENCE_MS

/** Runs all cases of a suite on one app and checks for double payments and losses after each case. */
export function testSuite({ networks, optional = [], options, cases }: Suite): void {
  let cluster: Cluster
  let run: Run
  beforeAll(async () => {
    cluster = await startCluster([...networks, ...optional])
    run = await openRun(cluster, options)
  }, 3 * PATIENCE_MS)
  afterAll(async () => {
    await run?.close()
    await cluster?.stop()
  })
  for (const { name, work } of cases) {
    test(
      name,
      async ({ skip }) => {
        const missing = networks.filter((one) => !cluster.chains.networks.some(({ network }) => network === one))
        skip(missing.length > 0, `no node for ${missing} is installed`)
        await work(run, { ...SHORT, random: createRandom(seed) })
        const findings = await run.listFindings()
        for (const line of run.fleet.interruptions.takeCounts()) console.info(`chaos: ${name}: ${line}`)
        expect(findings).toEqual([])
      },
      TIMEOUT_MS,
    )
  }
}
