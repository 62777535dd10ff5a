import { type Checkpoint, checkpoints } from '../../server/src/lib/checkpoint.ts'
import type { Fleet } from './fleet.ts'
import type { ServerProcess, Spot } from './server-process.ts'
import { until } from './until.ts'

const apiPoints: readonly Checkpoint[] = ['create.committed']
const workerPoints = checkpoints.filter((name) => !apiPoints.includes(name))
/** Work comes all the time: a point that nobody comes to in this time is on no way any more. */
const VISIT_MS = 45_000

export type Tour = Readonly<{ kills: number; missed: readonly string[] }>

/**
 * Every named point once by each worker, and the api's by the api: the process is started, and dies at its n-th visit.
 * The two workers go through the list from both ends, so that they die at different points at a time.
 */
export async function tourOfPoints(fleet: Fleet): Promise<Tour> {
  const missed: string[] = []
  let kills = 0
  const visit = async (one: ServerProcess, spots: readonly Spot[]) => {
    await one.end('SIGKILL')
    for (const spot of spots) {
      await one.start({ killAt: spot, waitReady: false })
      const provoked = spot.name === 'watch.rewound' ? setInterval(() => provoke(fleet), 1_500) : undefined
      await until(`${one.name} dies at ${spot.name}`, () => !one.isRunning(), VISIT_MS).catch(() =>
        missed.push(`${one.name} never came to ${spot.name}`),
      )
      clearInterval(provoked)
      if (one.isRunning()) await one.end('SIGKILL')
      else kills++
    }
    await one.start()
  }
  const spots = workerPoints.map((name): Spot => ({ name, nth: 1 }))
  // Of each reorganisation one worker alone is the first to go back: two of them may be long in coming.
  const later = workerPoints.map((name): Spot => ({ name, nth: name === 'watch.rewound' ? 1 : 2 })).reverse()
  await Promise.all([
    ...fleet.workers.map((worker, n) => visit(worker, n % 2 === 0 ? spots : later)),
    ...fleet.apis.slice(0, 1).map((api) =>
      visit(
        api,
        apiPoints.flatMap((name) => [1, 2, 5].map((nth) => ({ name, nth }))),
      ),
    ),
  ])
  return { kills, missed }
}

/** A reorganisation, of blocks alone: nothing that was counted goes away. */
function provoke(fleet: Fleet): void {
  fleet.ground.control('/reorgs', { network: 'btc', depth: 1 }).catch(() => undefined)
}
