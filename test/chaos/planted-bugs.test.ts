import { afterAll, beforeAll, expect, test } from 'vitest'
import { partOf } from '../support/part.ts'
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

test.each(partOf(plantedBugs, 4))(
  'detects the planted bug: $name',
  async (bug) => {
    expect(await attackWithBug(cluster, bug)).not.toEqual([])
  },
  4 * PATIENCE_MS,
)
