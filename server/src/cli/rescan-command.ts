import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { networks } from '../../networks/index.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import type { Config } from '../config/load.ts'
import { type Network, resolveNetwork } from '../core/domain/network.ts'
import { RESCAN_BLOCKS_MAX, requestRescan } from '../exchange/operations/request-rescan.ts'
import type { Rescan } from '../exchange/ports/store/rescans.ts'
import type { Store } from '../exchange/ports/store/store.ts'
import { promptReason, type ReasonOption, withReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { findNetwork } from './lookup.ts'
import { fail, integer, print } from './print.ts'

const PROGRESS_MS = 1_000
/** Without progress for this long, the command ends; the workers go on. */
const IDLE_MAX = 120

/** `swapyard rescan NETWORK FROM TO`. */
export function addRescanCommand(program: Command): void {
  withReason(program.command('rescan <network>'))
    .argument('<from>', 'the first block', integer)
    .argument('<to>', 'the last block', integer)
    .description(
      `reads final blocks again from every node, at most ${RESCAN_BLOCKS_MAX}, and records the deposits that were missed; the workers do it`,
    )
    .action(async (name: string, from: number, to: number, options: ReasonOption) => {
      const note = await promptReason(options)
      await withDatabase(async (database, config) => {
        const store = createStore(database)
        const network = findDefinition(config, findNetwork(name))
        const rescan = await requestRescan(store, network, { from, to }, note)
        showEnd(await showProgress(store, rescan))
      })
    })
}

function findDefinition({ environment }: Config, id: string): Network {
  const definition = networks.find((one) => one.id === id) ?? fail(`there is no network ${id}`)
  return resolveNetwork(definition, environment)
}

/** Prints a line for each change until the rescan ends. Stopping the command does not stop the rescan. */
async function showProgress(store: Store, started: Rescan): Promise<Rescan> {
  let shown = started
  show(shown)
  for (let idle = 0; !shown.hasEnded && idle < IDLE_MAX; idle++) {
    await sleep(PROGRESS_MS)
    const current = (await store.rescans.find(shown.id)) ?? shown
    if (JSON.stringify(current) === JSON.stringify(shown)) continue
    show(current)
    shown = current
    idle = 0
  }
  return shown
}

const show = ({ network, nextHeight, toHeight: to, found, failure }: Rescan): void =>
  print({ network, next: nextHeight, to, found, ...(failure === null ? {} : { failure }) })

function showEnd({ network, nextHeight, toHeight: to, found, failure, hasEnded }: Rescan): void {
  if (!hasEnded) fail(`the rescan goes on when a worker runs: nothing was read for ${IDLE_MAX} s`)
  if (nextHeight <= to) fail(`block ${nextHeight} of ${network} cannot be read from every node: ${failure}`)
  print({ network, ended: true, found })
}
