import { expect, test } from 'vitest'
import { hitRate } from './model.ts'

const ROUNDS = 10
const HOUR_S = 3_600
const hidden = { delayS: 600, noise: 0 }

test('of one size and all at once the matcher does as chance does', () => {
  // Of a hundred one is right by chance; of a thousand guesses about ten.
  expect(hitRate({ ...hidden, sizes: 'equal', arriveS: 600 }, ROUNDS)).toBeLessThan(0.04)
})

test('random sizes without waits are all matched, whatever the time', () => {
  expect(hitRate({ sizes: 'random', arriveS: HOUR_S, delayS: 0, noise: 0 }, ROUNDS)).toBeGreaterThan(0.99)
})

test('waits hide what is of one size and comes by itself, and the longer ones better', () => {
  const rate = (delayS: number) => hitRate({ sizes: 'equal', arriveS: 24 * HOUR_S, delayS, noise: 0 }, ROUNDS)
  // The random are the same each time: 0.53, 0.46 and 0.25.
  const [none, short, long] = [rate(0), rate(600), rate(HOUR_S)]
  expect(none).toBeGreaterThan(short + 0.05)
  expect(short).toBeGreaterThan(long + 0.15)
})

test('waits and amounts that differ make it worse, in this order', () => {
  const plain = hitRate({ ...hidden, sizes: 'random', arriveS: HOUR_S, delayS: 0 }, ROUNDS)
  const waited = hitRate({ ...hidden, sizes: 'random', arriveS: HOUR_S }, ROUNDS)
  const drawn = hitRate({ ...hidden, sizes: 'random', arriveS: HOUR_S, noise: 0.01 }, ROUNDS)
  expect(plain).toBeGreaterThan(waited + 0.02)
  expect(waited).toBeGreaterThan(drawn + 0.05)
})
