import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ground, startGround } from './cluster.ts'
import { createDice } from './random.ts'
import { openRun, type Run } from './run.ts'
import type { Course, Pace } from './suite.ts'

const nobodyListens = () => undefined
const SHORT: Omit<Pace, 'dice'> = { stormMs: 25_000, isThorough: false, say: nobodyListens, note: nobodyListens }
const SEED = 2
const TIMEOUT_MS = 600_000

/** One house goes through all drills of a course, and is judged after each: nobody is paid twice, nobody loses anything. */
export function testCourse({ networks, optional = [], options, drills }: Course): void {
  let ground: Ground
  let run: Run
  beforeAll(async () => {
    ground = await startGround([...networks, ...optional])
    run = await openRun(ground, options)
  }, 180_000)
  afterAll(async () => {
    await run?.close()
    await ground?.stop()
  }, 60_000)
  for (const { name, work } of drills) {
    test(
      name,
      async ({ skip }) => {
        const missing = networks.filter((one) => !ground.chains.networks.some(({ network }) => network === one))
        skip(missing.length > 0, `no node for ${missing} is installed`)
        await work(run, { ...SHORT, dice: createDice(SEED) })
        expect(await run.wrong()).toEqual([])
      },
      TIMEOUT_MS,
    )
  }
}
