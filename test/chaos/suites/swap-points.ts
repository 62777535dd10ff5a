import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Checkpoint, swapCheckpoints } from '../../../server/src/core/services/checkpoint.ts'
import type { Spot } from '../server-process.ts'
import type { DrillCase } from '../suite.ts'
import { createSwappers, type Swappers } from '../swappers.ts'
import { crashAtEach } from '../visit-points.ts'

/** Leaves a swap recorded and unsent, for the worker to broadcast. */
const RECORDED = { name: 'swap.recorded', nth: 1 } as const satisfies Spot
const BY_API = [
  'swap.built',
  'approval.checked',
  'approval.sent',
  'swap.before-broadcast',
  'swap.broadcast',
  'swap.sent',
] as const satisfies readonly Checkpoint[]
const BY_WORKER = [
  'swap.before-broadcast',
  'swap.broadcast',
  'swap.observed',
  'swap.tracked',
] as const satisfies readonly Checkpoint[]
const EVERY_MS = 1_200
const END_MS = 120_000

/** Users come all the time; one API process and one worker die at every point that lies on their way. */
export const swapPoints: DrillCase = {
  name: 'F1: processes killed at every named point of a swap leave one transaction, followed to its end',
  work: async ({ fleet, client }) => {
    const [api] = fleet.apis
    const [first, second] = fleet.workers
    if (!(api && first && second)) throw new Error('the drillCase needs an api and two workers')
    // Alone, so that what is left to a worker is left to this one.
    await second.end('SIGKILL')
    const swappers = createSwappers(fleet, client)
    const shop = openSwaps(swappers)
    const missed: string[] = []
    const apiSpots = BY_API.map(at)
    const workerSpots = BY_WORKER.map(at)
    let isBroadcasting = true
    let isTheirs = false
    const ofWorker = () => {
      const next = workerSpots.shift()
      isBroadcasting = next?.name.includes('broadcast') ?? false
      return next
    }
    /** In turn, for as long as the worker waits for something to broadcast. */
    const ofApi = () => {
      isTheirs = !isTheirs
      return isTheirs && isBroadcasting ? RECORDED : (apiSpots.shift() ?? (isBroadcasting ? RECORDED : undefined))
    }
    await Promise.all([crashAtEach(api, ofApi, missed), crashAtEach(first, ofWorker, missed)])
    await second.start()
    await shop.close()
    assert.deepEqual(missed, [])
    assert.deepEqual(shop.refused(), [])
    assert.deepEqual(await swappers.wrong(END_MS), [])
    const killed = new Set(fleet.all.flatMap((one) => one.killedAt()))
    assert.deepEqual(
      swapCheckpoints.filter((name) => !killed.has(name)),
      [],
    )
  },
}

const at = (name: Checkpoint): Spot => ({ name, nth: 1 })

function openSwaps(swappers: Swappers) {
  const refused: string[] = []
  const going = new Set<Promise<unknown>>()
  let closing = false
  const running = (async () => {
    while (!closing) {
      const one: Promise<unknown> = swappers.swap().catch((error: Error) => refused.push(error.message))
      going.add(one)
      void one.finally(() => going.delete(one))
      await delay(EVERY_MS)
    }
  })()
  return {
    refused: () => refused,
    close: async () => {
      closing = true
      await running
      await Promise.all(going)
    },
  }
}
