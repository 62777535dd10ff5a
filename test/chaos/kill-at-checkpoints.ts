import { type Checkpoint, exchangeCheckpoints } from '../../server/src/core/services/checkpoint.ts'
import { until } from '../support/until.ts'
import type { Fleet } from './fleet.ts'
import type { KillPoint, ServerProcess } from './server-process.ts'

const apiCheckpoints: readonly Checkpoint[] = ['create.committed']
const workerCheckpoints: readonly Checkpoint[] = exchangeCheckpoints.filter((name) => !apiCheckpoints.includes(name))
/** A process under constant load that does not reach a checkpoint in this time cannot reach it. */
const VISIT_MS = 150_000
const START_MS = 180_000

/**
 * Kills a process at every checkpoint. Two workers process the list from both ends, and each recovers the other's work.
 * If thorough, each worker is killed at all checkpoints, the second one at its second visit. Otherwise they share the list.
 * Returns the kills that did not happen.
 */
export async function killAtCheckpoints(fleet: Fleet, isThorough: boolean): Promise<readonly string[]> {
  const missed: string[] = []
  const reorgOneBlock = () => {
    // Less than the required confirmations, so that no credited deposit is removed.
    fleet.cluster.reorganize('btc', 1).catch((error: Error) => missed.push(`a reorganisation failed: ${error.message}`))
  }
  const trigger = (name: string) => (name === 'watch.rewound' ? setInterval(reorgOneBlock, 1_500) : undefined)
  const kill = (one: ServerProcess, next: () => KillPoint | undefined) => killAtEach(one, next, missed, trigger)
  const [first, second] = fleet.workers
  const [api] = fleet.apis
  if (!(first && second && api)) throw new Error('the suite needs an api and two workers')
  const [nextOfFirst, nextOfSecond] = divideCheckpoints(isThorough)
  const apiPoints = apiCheckpoints.flatMap((name) => (isThorough ? [1, 2, 5] : [1, 2]).map((nth) => ({ name, nth })))
  await Promise.all([kill(first, nextOfFirst), kill(second, nextOfSecond), kill(api, () => apiPoints.shift())])
  return missed
}

/** Kills a process at one checkpoint after another, then starts it again. `trigger` makes a rare checkpoint occur. */
export async function killAtEach(
  one: ServerProcess,
  next: () => KillPoint | undefined,
  missed: string[],
  trigger: (name: string) => NodeJS.Timeout | undefined = () => undefined,
): Promise<void> {
  await one.end('SIGKILL')
  for (let point = next(); point !== undefined; point = next()) {
    const before = one.killedAt().length
    await one.start({ killAt: point, waitReady: false })
    const timer = trigger(point.name)
    try {
      // Other processes can make the start slow. The time limit for the checkpoint must not include the start.
      await until(`${one.name} is ready`, () => one.isReady() || !one.isRunning(), START_MS)
      const end = Date.now() + VISIT_MS
      await until('an exit or the limit', () => !one.isRunning() || Date.now() > end, 2 * VISIT_MS)
    } finally {
      clearInterval(timer)
    }
    if (one.isRunning()) {
      await one.end('SIGKILL')
      missed.push(`${one.name} did not reach ${point.name} within ${VISIT_MS} ms`)
    } else if (one.killedAt().length === before) missed.push(`${one.name} exited before it reached ${point.name}`)
  }
  await one.start()
}

type NextPoint = () => KillPoint | undefined

/** The first worker starts at the front of the list, the second at its end. */
function divideCheckpoints(isThorough: boolean): readonly [NextPoint, NextPoint] {
  const points = workerCheckpoints.map((name): KillPoint => ({ name, nth: 1 }))
  const nextOfFirst = () => points.shift()
  if (!isThorough) return [nextOfFirst, () => points.pop()]
  // Only one worker rolls back per reorganisation, so a second visit by the same worker may take too long.
  const second = workerCheckpoints.map((name): KillPoint => ({ name, nth: name === 'watch.rewound' ? 1 : 2 }))
  return [nextOfFirst, () => second.pop()]
}
