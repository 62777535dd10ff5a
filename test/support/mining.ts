import type { Scenario } from './scenario.ts'

/** No blocks come by themselves meanwhile: for a few seconds only, others are on the chain too. */
export async function whilePaused<T>(scenario: Scenario, network: string, work: () => Promise<T>): Promise<T> {
  await scenario.mining(network, true)
  try {
    return await work()
  } finally {
    await scenario.mining(network, false)
  }
}
