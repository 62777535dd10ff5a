import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isBuildServer } from '../support/build-server.ts'
import { PATIENCE_MS } from '../support/patience.ts'
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
 * A build server tries half of the bugs. The commit chooses which, so that another run of it tries the same ones.
 * `npm run chaos` and other machines try all.
 */
const commit = isBuildServer ? execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim() : ''
const half = Number.parseInt(commit.slice(-1), 16) % 2
const bugs = plantedBugs.filter((_, n) => !isBuildServer || n % 2 === half)

test.each(bugs)(
  'detects the planted bug: $name',
  async (bug) => {
    expect(await attackWithBug(cluster, bug)).not.toEqual([])
  },
  4 * PATIENCE_MS,
)
