import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster } from './cluster.ts'
import { createRandom } from './random.ts'
import { openRun, type Run } from './run.ts'
import type { Pace, Suite } from './suite.ts'

const nobodyListens = () => undefined
const SHORT: Omit<Pace, 'random'> = { stormMs: 25_000, isThorough: false, say: nobodyListens, note: nobodyListens }
const SEED = 2
const TIMEOUT_MS = 600_000

/** One app goes through all cases of a suite, and is judged after each: nobody is paid twice, nobody loses anything. */
export function testSuite({ networks, optional = [], options, cases }: Suite): void {
  let cluster: Cluster
  let run: Run
  beforeAll(async () => {
    cluster = await startCluster([...networks, ...optional])
    run = await openRun(cluster, options)
  }, 180_000)
  afterAll(async () => {
    await run?.close()
    await cluster?.stop()
  }, 60_000)
  for (const { name, work } of cases) {
    test(
      name,
      async ({ skip }) => {
        const missing = networks.filter((one) => !cluster.chains.networks.some(({ network }) => network === one))
        skip(missing.length > 0, `no node for ${missing} is installed`)
        await work(run, { ...SHORT, random: createRandom(SEED) })
        expect(await run.wrong()).toEqual([])
      },
      TIMEOUT_MS,
    )
  }
}
