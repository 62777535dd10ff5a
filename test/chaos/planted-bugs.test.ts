import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster } from './cluster.ts'
import { findNone, findPlanted, plantedBugs } from './planted-bugs.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(['btc', 'eth'])
})
afterAll(() => cluster?.stop(), 60_000)

test('the attacks find nothing where there is no bug', async () => {
  expect(await findNone(cluster)).toEqual([])
}, 360_000)

test.each(plantedBugs)(
  'a planted bug is found: $name',
  async (bug) => {
    expect(await findPlanted(cluster, bug)).not.toEqual([])
  },
  240_000,
)
