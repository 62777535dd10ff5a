import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { BroadcastResult } from '../../../exchange/ports/chain.ts'
import { present } from '../../../lib/assert.ts'

/** Blocks below the lowest head to search for a common block. Nodes that differ further are on different chains. */
const DISAGREEMENT_MAX = 100

/** The calls that agreement needs. `hashAt` returns null above the node's head. */
type Node = Readonly<{
  head(): Promise<Readonly<{ height: number }>>
  hashAt(height: number): Promise<string | null>
}>

/** The block hash at a height if all nodes agree on it, else null. */
export async function findAgreedHash(nodes: readonly Pick<Node, 'hashAt'>[], height: number): Promise<string | null> {
  const hashes = await Promise.all(nodes.map((node) => node.hashAt(height)))
  const first = hashes[0] ?? null
  return hashes.every((hash) => hash === first) ? first : null
}

/** The block hash at a height, where every node has the same block. */
export async function requireAgreedHash(
  network: Network,
  nodes: readonly Pick<Node, 'hashAt'>[],
  height: number,
): Promise<string> {
  const hash = await findAgreedHash(nodes, height)
  if (hash !== null) return hash
  throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} do not agree on block ${height}`)
}

/** The highest block that every node has. Throws NETWORK_UNAVAILABLE without one within `DISAGREEMENT_MAX`. */
export async function findAgreedHead(network: Network, nodes: readonly Node[]): Promise<BlockRef> {
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (let height = lowest; height >= Math.max(0, lowest - DISAGREEMENT_MAX); height--) {
    const hash = await findAgreedHash(nodes, height)
    if (hash !== null) return { height, hash }
  }
  throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} disagree at the moment`, {
    cause: new Error(`the nodes have no common block in the ${DISAGREEMENT_MAX} blocks below ${lowest}`),
  })
}

/** The answer of the first node that succeeds, in order; throws the last failure if none does. */
export async function firstAnswer<N, T>(nodes: readonly N[], ask: (node: N) => Promise<T>): Promise<T> {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      return await ask(node)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** The first thing that a node finds, in order; null if no node has it. If a node failed, it may be there: throws the last failure. */
export async function firstFound<N, T>(nodes: readonly N[], find: (node: N) => Promise<T | null>): Promise<T | null> {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      const found = await find(node)
      if (found !== null) return found
    } catch (error) {
      failure = error
    }
  }
  if (failure !== null) throw failure
  return null
}

/** The answers of the nodes that succeed, in order; throws the first failure if none does. */
export async function answersOf<N, T>(nodes: readonly N[], ask: (node: N) => Promise<T>): Promise<readonly T[]> {
  return answersIn(await Promise.allSettled(nodes.map(ask)))
}

/** The answers in what nodes said, in order; throws the first failure if no node succeeded. */
export function answersIn<T>(settled: readonly PromiseSettledResult<T>[]): readonly T[] {
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (answers.length > 0) return answers
  throw settled.find((one) => one.status === 'rejected')?.reason
}

/** As `firstAnswer`, but another node is asked only after a failure that may pass: any other failure is the answer. */
export async function firstAvailable<N, T>(nodes: readonly N[], ask: (node: N) => Promise<T>): Promise<T> {
  let failure: unknown
  for (const node of nodes) {
    try {
      return await ask(node)
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error
      failure = error
    }
  }
  throw failure
}

/** Partners do not see which node failed; the cause, which is logged, names it. */
export async function hideNodeNames<T>({ id }: Network, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'NETWORK_UNAVAILABLE') throw cause
    throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${id} are not available`, { cause })
  }
}

/** The outcome of a broadcast to all nodes: accepted if one accepts, rejected only if all reject. */
export function combineResults(results: readonly BroadcastResult[]): BroadcastResult {
  const of = (kind: BroadcastResult['kind']) => results.find((result) => result.kind === kind)
  return present(of('accepted') ?? of('known') ?? of('unknown') ?? of('rejected'), 'the answer of a node')
}
