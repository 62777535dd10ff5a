import fc from 'fast-check'
import { seed } from './seed.ts'

/** Random samples. */
export function drawSamples<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed, numRuns: count })
}
