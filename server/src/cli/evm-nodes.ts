import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../app/sandbox-chains.ts'
import type { Config } from '../config/load.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import { fail } from './print.ts'

/** Networks of the running sandbox. */
export function readSandbox(config: Config): ChainsFile['networks'] {
  try {
    return (JSON.parse(readFileSync(config.chainsFile, 'utf8')) as ChainsFile).networks
  } catch {
    return fail(`no sandbox is running: ${config.chainsFile} cannot be read`)
  }
}

/** Nodes by network, from the settings or from the running sandbox. */
export function nodesOf(config: Config): ReadonlyMap<string, Readonly<{ rpcUrls: readonly NodeEndpoint[] }>> {
  if (config.environment !== 'sandbox') return config.networks
  return new Map(readSandbox(config).map(({ network, rpcUrls }) => [network, { rpcUrls }]))
}
