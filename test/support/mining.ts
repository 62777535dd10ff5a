import type { Scenario } from './scenario.ts'

/** Runs `work` while automatic mining is paused. Keep it to a few seconds, because other tests share the chain. */
export async function whileMiningPaused<T>(scenario: Scenario, network: string, work: () => Promise<T>): Promise<T> {
  await scenario.setMiningPaused(network, true)
  try {
    return await work()
  } finally {
    await scenario.setMiningPaused(network, false)
  }
}
