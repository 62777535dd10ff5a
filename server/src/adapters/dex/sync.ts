import { type Header, headerAt, headersAt } from './headers.ts'
import { logsOfBlocks, scanLogs } from './logs.ts'
import { readAll } from './read-all.ts'
import { type NetworkSetup, type SyncContext, reorgDepth } from './sync-context.ts'

const refOf = ({ height, hash }: Header) => ({ height, hash })

/** From the block that we have to the newest. `again` where it is known not to have got there. */
export async function syncToHead(context: SyncContext, setup: NetworkSetup, head: Header): Promise<'again' | undefined> {
  const { pools, network, settings } = context
  if (!(await rollback(context, head))) await readAll(context, setup)
  const at = pools.block()?.height ?? 0
  const settled = head.height - reorgDepth(network)
  if (settled - at > settings.catchUpBlocksMax) await readAll(context, setup)
  else if (settled > at && !(await catchUpTo(context, setup, { at, settled, head: head.height })))
    await readAll(context, setup)
  return applyNewBlocks(context, setup, head)
}

/** Goes back to a block that the chain still has; false where the way back ends before. */
async function rollback({ pools, rpc, counts, log, network }: SyncContext, head: Header): Promise<boolean> {
  let blocks = 0
  for (let at = pools.block(); at !== null; at = pools.block()) {
    // The newest header tells of its own block and of the one before.
    const known = at.height === head.height ? head.hash : at.height === head.height - 1 ? head.parentHash : null
    const hash = known ?? (await headerAt(rpc(), at.height))?.hash
    if (hash === at.hash) {
      if (blocks > 0) log.info({ network: network.id, blocks, height: at.height }, 'pools went back')
      return true
    }
    if (blocks++ === 0) counts.reorgs++
    if (!pools.undo()) return false
  }
  return false
}

/**
 * To the last block that is hardly taken back any more. A node that was started anew, or keeps few states, may tell none of
 * so old a block: then to the newest, from which a reorganisation leads all the way back.
 */
async function catchUpTo(
  context: SyncContext,
  setup: NetworkSetup,
  { at, settled, head }: { at: number; settled: number; head: number },
): Promise<boolean> {
  try {
    if (!(await catchUp(context, setup, at + 1, settled))) return false
    context.pools.forget()
    return true
  } catch (error) {
    if (settled === head) throw error
    return catchUp(context, setup, at + 1, head)
  }
}

/** Many blocks at once. False where the chain did change meanwhile. */
async function catchUp({ pools, rpc }: SyncContext, { follower }: NetworkSetup, from: number, to: number): Promise<boolean> {
  const last = await headerAt(rpc(), to)
  if (last === null) return false
  const fold = follower.fold()
  for await (const logs of scanLogs(rpc(), from, to, { topics: follower.topics })) fold.add(logs)
  const changes = await fold.finish(last)
  if ((await headerAt(rpc(), to))?.hash !== last.hash) return false
  pools.append(refOf(last), changes)
  return true
}

/**
 * Block by block, each by its hash and only upon its parent. What logs do not tell is read at the newest alone: a node that was
 * started anew knows no states of before.
 */
async function applyNewBlocks({ pools, rpc }: SyncContext, { follower }: NetworkSetup, head: Header): Promise<'again' | undefined> {
  const at = pools.block()
  // A head below ours is a node that lags: what we have still stands on the chain.
  if (at === null || at.height >= head.height) return undefined
  const headers = [...(await headersAt(rpc(), at.height + 1, head.height - 1)), head]
  const hashes = headers.flatMap((header) => header?.hash ?? [])
  const parents = [at.hash, ...hashes]
  if (!headers.every((header, n) => header?.parentHash === parents[n])) return 'again'
  const fold = follower.fold()
  for (const logs of await logsOfBlocks(rpc(), hashes, { topics: follower.topics })) fold.add(logs)
  pools.append(refOf(head), await fold.finish(head))
  return undefined
}
