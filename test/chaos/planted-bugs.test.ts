import { afterAll, beforeAll, expect, test } from 'vitest'
import { isBuildServer } from '../support/build-server.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { seed } from '../support/seed.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { attackWithBug, attackWithoutBug, plantedBugs } from './planted-bugs.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(['btc', 'eth'])
})
afterAll(() => cluster?.stop())

test(
  'the attacks find nothing in a server without a planted bug',
  async () => {
    expect(await attackWithoutBug(cluster)).toEqual([])
  },
  6 * PATIENCE_MS,
)

/**
 * A build server tries half of the bugs, chosen by the seed of the run, which it takes from the commit.
 * `npm run chaos` and other machines try all.
 */
const bugs = plantedBugs.filter((_, n) => !isBuildServer || n % 2 === seed % 2)

test.each(bugs)(
  'detects the planted bug: $name',
  async (bug) => {
    expect(await attackWithBug(cluster, bug)).not.toEqual([])
  },
  4 * PATIENCE_MS,
)
