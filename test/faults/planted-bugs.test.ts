import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ground, startGround } from '../chaos/ground.ts'
import { findPlanted, plantedBugs } from '../chaos/planted-bugs.ts'

let ground: Ground
beforeAll(async () => {
  ground = await startGround(['btc', 'eth'])
})
afterAll(() => ground.stop())

test.each(plantedBugs)('a planted bug is found: $name', async (bug) => {
  expect(await findPlanted(ground, bug)).not.toEqual([])
}, 240_000)
