import { resolve } from 'node:path'
import { evmNetworks } from './networks.ts'

export type Settings = Readonly<{
  folder: string
  networks: readonly string[]
  /** The server whose end ends the chains too, unless it or another comes back to them in time. */
  parent: number | null
  /** Prices stand still, and so do the pools. */
  still: boolean
  /** How long the chains wait for a server: one that was killed and comes back finds them where they were. */
  orphanMs: number
  searchPath: string
}>

export const everyNetwork: readonly string[] = ['btc', 'ltc', 'xmr', ...evmNetworks.map((one) => one.network)]

export const usage = `usage: main.ts [--data-dir DIR] [--networks ${everyNetwork.join(',')}|all] [--parent PID]`

const ownNames = ['SWAPYARD_SANDBOX_NETWORKS', 'SWAPYARD_SANDBOX_STILL']

export class UsageError extends Error {}

/** Command line first, then the environment that the server is started with, then what is usual. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Settings {
  const given = new Map<string, string>()
  for (let at = 0; at < args.length; at += 2) {
    const name = args[at] ?? ''
    const value = args[at + 1]
    if (!['--data-dir', '--networks', '--parent'].includes(name))
      throw new UsageError(`unknown argument ${name}\n${usage}`)
    if (value === undefined) throw new UsageError(`${name} needs a value\n${usage}`)
    given.set(name, value)
  }
  // Of the other names the server knows more than we do.
  for (const name of Object.keys(env))
    if (name.startsWith('SWAPYARD_SANDBOX_') && !ownNames.includes(name))
      throw new UsageError(`${name} is not a setting; there are ${ownNames.join(' and ')}`)
  const parent = given.get('--parent') ?? null
  if (parent !== null && !/^[1-9]\d{0,9}$/.test(parent))
    throw new UsageError(`--parent is not a process id: ${parent}\n${usage}`)
  return {
    folder: resolve(given.get('--data-dir') ?? env['SWAPYARD_DATA_DIR'] ?? '.swapyard'),
    networks: readNetworks(given.get('--networks') ?? env['SWAPYARD_SANDBOX_NETWORKS'] ?? 'all'),
    parent: parent === null ? null : Number(parent),
    still: env['SWAPYARD_SANDBOX_STILL'] === '1',
    orphanMs: Number(env['SWAPYARD_TEST_ORPHAN_MS'] ?? 60_000),
    searchPath: env['PATH'] ?? '',
  }
}

function readNetworks(text: string): readonly string[] {
  const wanted = text
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (wanted.length === 0 || wanted.includes('all')) return everyNetwork
  for (const network of wanted) {
    if (!everyNetwork.includes(network)) {
      throw new UsageError(`the sandbox has no chain for "${network}"; it has ${everyNetwork.join(', ')}`)
    }
  }
  return everyNetwork.filter((network) => wanted.includes(network))
}

/** bcoin reads this when it is loaded: its native parts are not built here. */
export function preferJavaScriptCrypto(): void {
  process.env['NODE_BACKEND'] = 'js'
}
