import { type Checkpoint, exchangeCheckpoints } from '../../server/src/core/services/checkpoint.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import type { Fleet } from './fleet.ts'
import type { KillPoint, ServerProcess } from './server-process.ts'

const apiCheckpoints: readonly Checkpoint[] = ['create.committed']
const workerCheckpoints: readonly Checkpoint[] = exchangeCheckpoints.filter((name) => !apiCheckpoints.includes(name))
/** A process under constant load that does not reach a checkpoint in this time cannot reach it. */
const VISIT_MS = 1.5 * PATIENCE_MS
const START_MS = 1.5 * PATIENCE_MS

/**
 * Kills a process at every checkpoint. Two workers process the list from both ends, and each recovers the other's work.
 * If thorough, each worker is killed at all checkpoints, the second one at its second visit. Otherwise they share the list.
 * Returns the kills that did not happen.
 */
export async function killAtCheckpoints(fleet: Fleet, isThorough: boolean): Promise<readonly string[]> {
  const missed: string[] = []
  const trigger: Trigger = async (name, isOver) => {
    if (name === 'watch.rewound')
      await replaceTips(fleet, isOver).catch((error: Error) => missed.push(`no reorganisation: ${error.message}`))
  }
  const kill = (one: ServerProcess, next: () => KillPoint | undefined) => killAtEach(one, next, missed, trigger)
  const [first, second] = fleet.workers
  const [api] = fleet.apis
  if (!(first && second && api)) throw new Error('the suite needs an api and two workers')
  const [nextOfFirst, nextOfSecond] = divideCheckpoints(isThorough)
  const apiPoints = apiCheckpoints.flatMap((name) => (isThorough ? [1, 2, 5] : [1, 2]).map((nth) => ({ name, nth })))
  await Promise.all([kill(first, nextOfFirst), kill(second, nextOfSecond), kill(api, () => apiPoints.shift())])
  return missed
}

/** Replaces the newest block of btc again and again, each time when a worker has recorded it: else there is nothing to rewind. */
async function replaceTips({ cluster, store }: Fleet, isOver: () => boolean): Promise<void> {
  const isRecorded = async () =>
    (await store.chainLog.cursor('btc'))?.hash === (await cluster.call('btc', 'getbestblockhash'))
  while (!isOver()) {
    await until('the newest block is recorded', async () => isOver() || (await isRecorded()), VISIT_MS)
    // Less than the required confirmations, so that no credited deposit is removed.
    if (!isOver()) await cluster.reorganize('btc', 1)
  }
}

/** Makes a rare checkpoint occur until the kill has happened. */
type Trigger = (name: string, isOver: () => boolean) => Promise<void>

/** Kills a process at one checkpoint after another, then starts it again. */
export async function killAtEach(
  one: ServerProcess,
  next: () => KillPoint | undefined,
  missed: string[],
  trigger: Trigger = async () => undefined,
): Promise<void> {
  await one.end('SIGKILL')
  for (let point = next(); point !== undefined; point = next()) {
    const before = one.killedAt().length
    await one.start({ killAt: point, waitReady: false })
    let isLate = false
    const triggered = trigger(point.name, () => isLate || !one.isRunning())
    try {
      // Other processes can make the start slow. The time limit for the checkpoint must not include the start.
      await until(`${one.name} is ready`, () => one.isReady() || !one.isRunning(), START_MS)
      const end = Date.now() + VISIT_MS
      await until('an exit or the limit', () => !one.isRunning() || Date.now() > end, 2 * VISIT_MS)
    } finally {
      isLate = true
      await triggered
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
