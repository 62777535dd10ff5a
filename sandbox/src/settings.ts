import { resolve } from 'node:path'
import { evmNetworks } from './networks.ts'

export type Settings = Readonly<{
  dataDir: string
  networks: readonly string[]
  /**
   * The server that started the chains. They stop after its exit, unless a server registers within `orphanTimeoutMs`.
   */
  parentPid: number | null
  /** Prices do not move and the trader does not move the pools. */
  isFrozen: boolean
  /** How long the chains wait for a server, so that a restarted one can continue with them. */
  orphanTimeoutMs: number
  searchPath: string
}>

export const allNetworks: readonly string[] = [
  'btc',
  'ltc',
  'xmr',
  ...evmNetworks.map((one) => one.network),
  'sol',
  'sui',
]

export const usage = `usage: main.ts [--data-dir DIR] [--networks ${allNetworks.join(',')}|all] [--parent PID]`

const settingNames = ['SWAPYARD_SANDBOX_NETWORKS', 'SWAPYARD_SANDBOX_STILL']

export class UsageError extends Error {}

/** Reads the command line first, then the environment, then the defaults. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Settings {
  const options = new Map<string, string>()
  for (let index = 0; index < args.length; index += 2) {
    const name = args[index] ?? ''
    const value = args[index + 1]
    if (!['--data-dir', '--networks', '--parent'].includes(name))
      throw new UsageError(`unknown argument ${name}\n${usage}`)
    if (value === undefined) throw new UsageError(`${name} needs a value\n${usage}`)
    options.set(name, value)
  }
  // The server validates all other SWAPYARD_ names.
  for (const name of Object.keys(env))
    if (name.startsWith('SWAPYARD_SANDBOX_') && !settingNames.includes(name))
      throw new UsageError(`${name} is not a setting; the sandbox settings are ${settingNames.join(' and ')}`)
  const parentPid = options.get('--parent') ?? null
  if (parentPid !== null && !/^[1-9]\d{0,9}$/.test(parentPid))
    throw new UsageError(`--parent is not a process id: ${parentPid}\n${usage}`)
  return {
    dataDir: resolve(options.get('--data-dir') ?? env['SWAPYARD_DATA_DIR'] ?? '.swapyard'),
    networks: readNetworks(options.get('--networks') ?? env['SWAPYARD_SANDBOX_NETWORKS'] ?? 'all'),
    parentPid: parentPid === null ? null : Number(parentPid),
    isFrozen: env['SWAPYARD_SANDBOX_STILL'] === '1',
    orphanTimeoutMs: Number(env['SWAPYARD_TEST_ORPHAN_MS'] ?? 60_000),
    searchPath: env['PATH'] ?? '',
  }
}

function readNetworks(text: string): readonly string[] {
  const requested = text
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (requested.length === 0 || requested.includes('all')) return allNetworks
  for (const network of requested) {
    if (!allNetworks.includes(network)) {
      throw new UsageError(`the sandbox has no chain for "${network}"; it has ${allNetworks.join(', ')}`)
    }
  }
  return allNetworks.filter((network) => requested.includes(network))
}

/** bcoin reads NODE_BACKEND when it loads; its native addons are not built here. */
export function preferJavaScriptCrypto(): void {
  process.env['NODE_BACKEND'] = 'js'
}
