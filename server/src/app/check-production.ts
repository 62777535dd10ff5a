import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, type Sql } from '../adapters/postgres/core/database.ts'
import { findUnsafeSettings, hasChecksums } from '../adapters/postgres/core/durability.ts'
import { type Config, ConfigError } from '../config/load.ts'
import type { AlarmStore } from '../core/ports/store/alarms.ts'
import type { Log } from '../lib/log.ts'
import type { SwapNetwork } from '../swap/networks.ts'
import type { ClosableChain } from './chains.ts'

/* Checks of a production start that need the outside systems. */

/** Refuses a database that can lose commits: then a payout could be signed twice. */
export async function requireDurableDatabase(url: string): Promise<void> {
  const database = openDatabase(url, { max: 1, waitMs: 10_000 })
  try {
    const problems = await findUnsafeSettings(database)
    if (problems.length > 0) throw new ConfigError(problems.map((problem) => `DATABASE_URL: ${problem}`))
  } finally {
    await database.close()
  }
}

const NO_CHECKSUMS = 'the database has no data checksums: a corrupted page of the disk is read as if it were correct'

/** Reports a cluster without data checksums. It is no reason to refuse, because to turn them on stops the cluster for hours. */
export async function reportChecksums(sql: Sql, alarms: Pick<AlarmStore, 'raise' | 'clear'>, log: Log): Promise<void> {
  const subject = 'checksums:database'
  if (await hasChecksums(sql)) return alarms.clear(subject)
  log.warn({}, NO_CHECKSUMS)
  await alarms.raise(subject, NO_CHECKSUMS, {})
}

/** Of Linux; other systems have no such file. */
const LIMITS_FILE = '/proc/self/limits'
const readLimits = (): string => (existsSync(LIMITS_FILE) ? readFileSync(LIMITS_FILE, 'utf8') : '')
const CORE_DUMPS =
  'a crash would write the memory of this process to a file, and the memory holds the seed: set `ulimit -c 0` (systemd: LimitCORE=0)'

/** Reports that core dumps of a process that holds the seed are not forbidden (M27.9). The soft limit is in force. */
export function reportCoreDumps(log: Log, limits = readLimits()): void {
  const [, maxSize] = /^Max core file size\s+(\S+)/m.exec(limits) ?? []
  if (maxSize !== undefined && maxSize !== '0') log.warn({ maxSize }, CORE_DUMPS)
}

/** How long the start waits for the nodes' answers. */
const ANSWER_MS = 15_000

/**
 * Refuses nodes of another network, where no transaction names its network. A network whose nodes do not answer is started: no call
 * uses a node before it has stated its genesis.
 */
export async function requireOwnNetworks(chains: ReadonlyMap<string, SwapNetwork>, log: Log): Promise<void> {
  const checked = await Promise.all(
    [...chains].map(async ([network, { chain }]) => {
      if (chain.areNodesOnNetwork === undefined) return []
      const isRight = await Promise.race([chain.areNodesOnNetwork(), delay(ANSWER_MS, null, { ref: false })]).catch(
        () => null,
      )
      if (isRight === null) log.warn({ network }, 'the nodes did not say to which network they belong')
      return isRight === false ? [network] : []
    }),
  )
  const problems = checked
    .flat()
    .map((network) => `SWAPYARD_CONFIG: networks.${network}: a node belongs to another network`)
  if (problems.length > 0) throw new ConfigError(problems)
}

/**
 * Refuses an EVM network without traces, unless its settings accept that. A network whose nodes do not answer is started:
 * the scan notes every block that it reads without traces.
 */
export async function requireTraces(
  chains: ReadonlyMap<string, ClosableChain>,
  networks: Config['networks'],
  log: Log,
): Promise<void> {
  const checked = await Promise.all(
    [...chains].map(async ([network, chain]) => {
      const isRequired = networks.get(network)?.traces ?? true
      if (chain.hasTraces === undefined) return []
      const hasTraces = await Promise.race([chain.hasTraces(), delay(ANSWER_MS, null, { ref: false })]).catch(
        () => null,
      )
      if (hasTraces === null) log.warn({ network }, 'the nodes did not say whether they offer traces')
      if (hasTraces === false && !isRequired)
        log.warn({ network }, 'no node offers traces: deposits of the native currency from contracts are not recorded')
      return hasTraces === false && isRequired ? [network] : []
    }),
  )
  const problems = checked
    .flat()
    .map(
      (network) =>
        `SWAPYARD_CONFIG: networks.${network}: no node offers traces (trace_block or debug_traceBlockByHash), so deposits of the native currency from contracts would not be recorded; use a node with traces, or accept this with "traces": false`,
    )
  if (problems.length > 0) throw new ConfigError(problems)
}
