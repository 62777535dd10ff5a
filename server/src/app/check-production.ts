import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../adapters/postgres/core/database.ts'
import { findUnsafeSettings } from '../adapters/postgres/core/durability.ts'
import { type Config, ConfigError } from '../config/load.ts'
import type { Log } from '../lib/log.ts'
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

/** How long the start waits for the nodes' answers. */
const TRACES_MS = 15_000

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
      const hasTraces = await Promise.race([chain.hasTraces(), delay(TRACES_MS, null, { ref: false })]).catch(
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
