import type { World } from './scenario.ts'

/** No blocks come by themselves meanwhile: for a few seconds only, others are on the chain too. */
export async function whilePaused<T>(world: World, network: string, work: () => Promise<T>): Promise<T> {
  await world.mining(network, true)
  try {
    return await work()
  } finally {
    await world.mining(network, false)
  }
}
