import { isTransient, refusalOf } from '../chains/evm/rpc.ts'
import { type Header, headerAt, headersAt } from './headers.ts'
import { logsOfBlocks, scanLogs, UnreadableLogs } from './logs.ts'
import { readAll } from './read-all.ts'
import { type NetworkSetup, reorgDepth, type SyncContext } from './sync-context.ts'

const refOf = ({ height, hash }: Header) => ({ height, hash })

/** Moves the pools from their block to the newest one. Returns `again` if it did not reach it. */
export async function syncToHead(
  context: SyncContext,
  setup: NetworkSetup,
  head: Header,
): Promise<'again' | undefined> {
  if (!(await rollback(context, head))) await readAll(context, setup)
  try {
    const result = await followLogs(context, setup, head)
    context.refusedTurns.value = 0
    return result
  } catch (error) {
    if (!isUnreadable(context, error)) throw error
    const { network, log } = context
    log.warn({ network: network.id, err: error }, 'the logs of a block cannot be read: all pools are read again')
    await readAll(context, setup)
    return undefined
  }
}

/** Turns, each with the next node, in which the logs of a block are refused before the pools are read without them. */
const REFUSED_TURNS_MAX = 3

/** Whether no node returns the logs of a block. A limit of calls, or an error inside the node, is no reason to make many more calls. */
function isUnreadable({ refusedTurns }: SyncContext, error: unknown): boolean {
  if (!(error instanceof UnreadableLogs)) return false
  const refusal = refusalOf(error)
  if (refusal !== null && !isTransient(refusal)) refusedTurns.value++
  if (!error.isTooLarge && refusedTurns.value < REFUSED_TURNS_MAX) return false
  refusedTurns.value = 0
  return true
}

async function followLogs(context: SyncContext, setup: NetworkSetup, head: Header): Promise<'again' | undefined> {
  const { pools, network, settings } = context
  const at = pools.block()?.height ?? 0
  const finalHeight = head.height - reorgDepth(network)
  if (finalHeight - at > settings.catchUpBlocksMax) await readAll(context, setup)
  else if (finalHeight > at && !(await catchUpTo(context, setup, { at, finalHeight, head: head.height })))
    await readAll(context, setup)
  return applyNewBlocks(context, setup, head)
}

/** Undoes blocks that are no longer on the chain; false if the undo data ends before a common block. */
async function rollback({ pools, rpc, counts, log, network }: SyncContext, head: Header): Promise<boolean> {
  let blocks = 0
  for (let at = pools.block(); at !== null; at = pools.block()) {
    // The newest header contains its own hash and the hash of its parent.
    const hashFromHead = at.height === head.height ? head.hash : at.height === head.height - 1 ? head.parentHash : null
    const hash = hashFromHead ?? (await headerAt(rpc(), at.height))?.hash
    if (hash === at.hash) {
      if (blocks > 0) log.info({ network: network.id, blocks, height: at.height }, 'pools rolled back after a reorg')
      return true
    }
    if (blocks++ === 0) counts.reorgs++
    if (!pools.undo()) return false
  }
  return false
}

/**
 * Catches up to the last final block. A node that was restarted or keeps few states may not have the state of that block. Then it
 * catches up to the newest block, where a reorg undoes the whole catch-up.
 */
async function catchUpTo(
  context: SyncContext,
  setup: NetworkSetup,
  { at, finalHeight, head }: { at: number; finalHeight: number; head: number },
): Promise<boolean> {
  try {
    if (!(await catchUp(context, setup, at + 1, finalHeight))) return false
    context.pools.clearUndo()
    return true
  } catch (error) {
    if (finalHeight === head || error instanceof UnreadableLogs) throw error
    return catchUp(context, setup, at + 1, head)
  }
}

/** Applies many blocks at once. False if the chain changed meanwhile. */
async function catchUp(
  { pools, rpc }: SyncContext,
  { follower }: NetworkSetup,
  from: number,
  to: number,
): Promise<boolean> {
  const last = await headerAt(rpc(), to)
  if (last === null) return false
  const fold = follower.fold()
  for await (const logs of scanLogs(rpc(), from, to, follower)) fold.add(logs)
  const changes = await fold.finish(last)
  if ((await headerAt(rpc(), to))?.hash !== last.hash) return false
  pools.append(refOf(last), changes)
  return true
}

/**
 * Applies new blocks by hash and checks that each one follows its parent. State that is not in logs is read only at the newest
 * block, because a restarted node does not have earlier states.
 */
async function applyNewBlocks(
  { pools, rpc }: SyncContext,
  { follower }: NetworkSetup,
  head: Header,
): Promise<'again' | undefined> {
  const at = pools.block()
  // A head below ours means that the node lags. Our block is still on the chain.
  if (at === null || at.height >= head.height) return undefined
  const headers = [...(await headersAt(rpc(), at.height + 1, head.height - 1)), head]
  const hashes = headers.flatMap((header) => header?.hash ?? [])
  const parents = [at.hash, ...hashes]
  if (!headers.every((header, n) => header?.parentHash === parents[n])) return 'again'
  const fold = follower.fold()
  for (const logs of await logsOfBlocks(rpc(), hashes, follower)) fold.add(logs)
  pools.append(refOf(head), await fold.finish(head))
  return undefined
}
