import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { RESCAN_BLOCKS_MAX } from '../exchange/operations/request-rescan.ts'
import { actAndReturn, readRows } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'
import { fail, integer, print } from './print.ts'
import type { Reply } from './remote.ts'

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
    .action(async (network: string, from: number, to: number, options: ReasonOption) => {
      const begun = await actAndReturn('rescans-begin', { network, from, to }, options)
      if (options.preview !== true) showEnd(await showProgress(String(begun['rescan'])))
    })
}

async function readRescan(id: string): Promise<Reply> {
  const found = (await readRows('rescans')).find((row) => row['id'] === id)
  return found ?? fail(`the rescan ${id} is not listed any more`)
}

/** Prints a line for each change until the rescan ends. Stopping the command does not stop the rescan. */
async function showProgress(id: string): Promise<Reply> {
  let shown = await readRescan(id)
  show(shown)
  for (let idle = 0; !shown['ended'] && idle < IDLE_MAX; idle++) {
    await sleep(PROGRESS_MS)
    const current = await readRescan(id)
    if (JSON.stringify(current) === JSON.stringify(shown)) continue
    show(current)
    shown = current
    idle = 0
  }
  return shown
}

const show = ({ network, nextHeight, toHeight: to, found, failure }: Reply): void =>
  print({ network, next: nextHeight, to, found, ...(failure === null ? {} : { failure }) })

function showEnd({ network, nextHeight, toHeight, found, failure, ended }: Reply): void {
  if (!ended) fail(`the rescan goes on when a worker runs: nothing was read for ${IDLE_MAX} s`)
  if (BigInt(String(nextHeight)) <= BigInt(String(toHeight)))
    fail(`block ${nextHeight} of ${network} cannot be read from every node: ${failure}`)
  print({ network, ended: true, found })
}
