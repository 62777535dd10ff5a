import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Checkpoint, swapCheckpoints } from '../../../server/src/core/services/checkpoint.ts'
import { killAtEach } from '../kill-at-checkpoints.ts'
import type { KillPoint } from '../server-process.ts'
import type { SuiteCase } from '../suite.ts'
import { createSwapUsers, type SwapUsers } from '../swap-users.ts'

/** Leaves a recorded swap that the worker has to broadcast. */
const RECORDED = { name: 'swap.recorded', nth: 1 } as const satisfies KillPoint
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

/** Kills one API process and one worker at each of their swap checkpoints, under a constant load of users. */
export const swapCheckpointKills: SuiteCase = {
  name: 'F1: sends and tracks one transaction per swap if processes are killed at every checkpoint of a swap',
  work: async ({ fleet, client }) => {
    const [api] = fleet.apis
    const [first, second] = fleet.workers
    if (!(api && first && second)) throw new Error('the case needs an api and two workers')
    // With one worker, the recorded swaps are left to this worker.
    await second.end('SIGKILL')
    const users = createSwapUsers(fleet, client)
    const load = startSwaps(users)
    const missed: string[] = []
    const apiPoints = BY_API.map(firstVisit)
    const workerPoints = BY_WORKER.map(firstVisit)
    let needsRecorded = true
    let isRecordedNext = false
    const nextOfWorker = () => {
      const next = workerPoints.shift()
      needsRecorded = next?.name.includes('broadcast') ?? false
      return next
    }
    /** While the worker needs a swap to broadcast, every second kill of the API process leaves a recorded swap. */
    const nextOfApi = () => {
      isRecordedNext = !isRecordedNext
      return isRecordedNext && needsRecorded ? RECORDED : (apiPoints.shift() ?? (needsRecorded ? RECORDED : undefined))
    }
    // Another process answers a repeated approval or swap with 503 while the claim of its key lasts.
    const finish = fleet.interruptApis('a killed process leaves claims of idempotency keys')
    await Promise.all([killAtEach(api, nextOfApi, missed), killAtEach(first, nextOfWorker, missed)])
    await second.start()
    await load.close()
    finish()
    assert.deepEqual(missed, [])
    assert.deepEqual(load.errors(), [])
    assert.deepEqual(await users.findDifferences(), [])
    const killed = new Set(fleet.all.flatMap((one) => one.killedAt()))
    assert.deepEqual(
      swapCheckpoints.filter((name) => !killed.has(name)),
      [],
    )
  },
}

const firstVisit = (name: Checkpoint): KillPoint => ({ name, nth: 1 })

function startSwaps(users: SwapUsers) {
  const errors: string[] = []
  const pending = new Set<Promise<unknown>>()
  let closing = false
  const running = (async () => {
    while (!closing) {
      const one: Promise<unknown> = users.swap().catch((error: Error) => errors.push(error.message))
      pending.add(one)
      void one.finally(() => pending.delete(one))
      await delay(EVERY_MS)
    }
  })()
  return {
    errors: () => errors,
    close: async () => {
      closing = true
      await running
      await Promise.all(pending)
    },
  }
}
