import fc from 'fast-check'

/** Random samples. The seed is logged; `TEST_SEED` repeats it. */
export function drawSamples<T>(title: string, arbitrary: fc.Arbitrary<T>, count: number): T[] {
  const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.info(`differential: ${title}, seed ${seed}`)
  return fc.sample(arbitrary, { seed, numRuns: count })
}
