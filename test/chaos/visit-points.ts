import { type Checkpoint, exchangeCheckpoints } from '../../server/src/core/services/checkpoint.ts'
import { until } from '../support/until.ts'
import type { Fleet } from './fleet.ts'
import type { ServerProcess, Spot } from './server-process.ts'

const apiPoints: readonly Checkpoint[] = ['create.committed']
const workerPoints: readonly Checkpoint[] = exchangeCheckpoints.filter((name) => !apiPoints.includes(name))
/** Work comes all the time: a point that nobody comes to in this time is on no way any more. */
const VISIT_MS = 150_000
const START_MS = 60_000

/**
 * Every named point: a process is started, and dies when it comes there. Two workers go through the list from both ends, so
 * that they die at different points at a time, and either meets the other's remains: thorough = each goes all of the way,
 * and one dies at its second visit; otherwise they meet in the middle. Returns what nobody came to.
 */
export async function visitPoints(fleet: Fleet, isThorough: boolean): Promise<readonly string[]> {
  const missed: string[] = []
  const provoking = (name: string) => (name === 'watch.rewound' ? setInterval(() => provoke(fleet), 1_500) : undefined)
  const visit = (one: ServerProcess, next: () => Spot | undefined) => crashAtEach(one, next, missed, provoking)
  const [first, second] = fleet.workers
  const [api] = fleet.apis
  if (!(first && second && api)) throw new Error('the tour needs two workers and an api')
  const [ahead, back] = routes(isThorough)
  const visits = apiPoints.flatMap((name) => (isThorough ? [1, 2, 5] : [1, 2]).map((nth) => ({ name, nth })))
  await Promise.all([visit(first, () => ahead.shift()), visit(second, () => back()), visit(api, () => visits.shift())])
  return missed
}

/** Lets a process die at one point after the other, and live after the last. */
export async function crashAtEach(
  one: ServerProcess,
  next: () => Spot | undefined,
  missed: string[],
  provoking: (name: string) => NodeJS.Timeout | undefined = () => undefined,
): Promise<void> {
  await one.end('SIGKILL')
  for (let spot = next(); spot !== undefined; spot = next()) {
    await one.start({ killAt: spot, waitReady: false })
    const provoked = provoking(spot.name)
    // Many other processes make a start long: that is no time in which work came by.
    await until(`${one.name} is ready`, () => one.isReady() || !one.isRunning(), START_MS).catch(() => undefined)
    const dies = until(`${one.name} dies`, () => !one.isRunning(), VISIT_MS)
    await dies.catch(() => missed.push(`${one.name} never came to ${spot?.name}`))
    clearInterval(provoked)
    if (one.isRunning()) await one.end('SIGKILL')
  }
  await one.start()
}

/** What the first worker takes from the front, and the second from the end. */
function routes(isThorough: boolean): readonly [Spot[], () => Spot | undefined] {
  const spots = workerPoints.map((name): Spot => ({ name, nth: 1 }))
  if (!isThorough) return [spots, () => spots.pop()]
  // Of each reorganisation one worker alone is the first to go back: two of them may be long in coming.
  const later = workerPoints.map((name): Spot => ({ name, nth: name === 'watch.rewound' ? 1 : 2 }))
  return [spots, () => later.pop()]
}

/** A reorganisation, of blocks alone: nothing that was counted goes away. */
function provoke({ cluster }: Fleet): void {
  cluster.reorganize('btc', 1).catch(() => undefined)
}
