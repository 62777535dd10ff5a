import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ground, startGround } from './cluster.ts'
import { findNone, findPlanted, plantedBugs } from './planted-bugs.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground?.stop(), 60_000)

test('the attacks find nothing where there is no bug', async () => {
  expect(await findNone(ground)).toEqual([])
}, 360_000)

test.each(plantedBugs)(
  'a planted bug is found: $name',
  async (bug) => {
    expect(await findPlanted(ground, bug)).not.toEqual([])
  },
  240_000,
)
