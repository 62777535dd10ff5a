import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../app/sandbox-chains.ts'
import type { Config } from '../config/load.ts'
import { fail } from './print.ts'

/** What the sandbox that runs offers. */
export function readSandbox(config: Config): ChainsFile['networks'] {
  try {
    return (JSON.parse(readFileSync(config.chainsFile, 'utf8')) as ChainsFile).networks
  } catch {
    return fail(`no sandbox runs: ${config.chainsFile} is not there`)
  }
}

/** Nodes by network: of the settings, or of the sandbox that runs. */
export function nodesOf(config: Config): ReadonlyMap<string, Readonly<{ rpcUrls: readonly string[] }>> {
  if (config.environment !== 'sandbox') return config.networks
  return new Map(readSandbox(config).map(({ network, rpcUrls }) => [network, { rpcUrls }]))
}
