import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChains } from './chains.ts'
import { type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'

/** Starts a scenario on chains of its own, for tests that would disturb the other tests of a run, or be disturbed by them. */
export async function startScenarioOnOwnChains(options: ScenarioOptions): Promise<Scenario> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-own-chains-'))
  const chains = await startChains(folder, options.networks)
  const stopChains = async () => {
    await chains.stop()
    await rm(folder, { recursive: true, force: true })
  }
  const scenario = await startScenario({ ...options, chainsFile: chains.file }).catch(async (error: unknown) => {
    await stopChains()
    throw error
  })
  return {
    ...scenario,
    stop: async () => {
      await scenario.stop()
      await stopChains()
    },
  }
}
