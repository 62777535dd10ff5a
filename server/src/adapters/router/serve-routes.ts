import type { MessagePort } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import type { ListedPool, PoolSource } from '../../swap/ports/pools.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'
import { createRouteFinder } from './find-route.ts'
import type { FromThread, ToThread } from './messages.ts'

/** A network with its limits in the router thread. */
export type ServedNetwork = Readonly<{
  source: PoolSource
  paceMs: number
  blockTimeMs: number
  /** State older than this is not quoted from. */
  staleMs: number
}>

export type ServeOptions = Readonly<{
  port: MessagePort
  networks: readonly ServedNetwork[]
  budgetMs: number
  log: Log
  now?: () => number
}>

/** Orders older than this are refused: the caller has timed out. */
const QUEUE_MS = 2_000
const BACKOFF_MS = 15_000
const LIQUIDITY_MS = 15_000

/** Without a new block for this many block times, a network has halted or is unused. */
const OVERDUE_BLOCKS = 5
/** Far below the age of a state that no quote uses any more. */
const OVERDUE_PACE_MS = 5_000

/** Returns the pause after a turn that read this head: a tenth of the time by which the network's next block is overdue, or its pace. */
export function createTurnPause(
  { paceMs, blockTimeMs }: Pick<ServedNetwork, 'paceMs' | 'blockTimeMs'>,
  now: () => number,
): (head: number) => number {
  let newest = { head: -1, seenMs: now() }
  return (head) => {
    if (head !== newest.head) newest = { head, seenMs: now() }
    const overdueMs = now() - newest.seenMs - OVERDUE_BLOCKS * blockTimeMs
    return Math.max(paceMs, Math.min(overdueMs / 10, OVERDUE_PACE_MS))
  }
}

/** The router thread: keeps the pools current and answers orders one at a time. */
export function serveRoutes({ port, networks, budgetMs, log, now = Date.now }: ServeOptions): {
  stop(): Promise<void>
} {
  const served = new Map(
    networks.map((one) => {
      const [find, pauseAfter] = [createRouteFinder({ budgetMs }), createTurnPause(one, now)]
      return [one.source.network, { ...one, find, pauseAfter, liquiditySentMs: 0 }]
    }),
  )
  const post = (message: FromThread) => port.postMessage(message)

  const loops: Loop[] = [...served.values()].map((one) =>
    startLoop({
      paceMs: one.paceMs,
      backoffMs: BACKOFF_MS,
      async turn() {
        const more = await one.source.advance()
        postState(one)
        return more ?? one.pauseAfter(one.source.current()?.head ?? -1)
      },
      onError: (err) => log.warn({ err, network: one.source.network }, 'the pools are not current'),
    }),
  )

  function postState(one: { source: PoolSource; liquiditySentMs: number }): void {
    const { network } = one.source
    const at = one.source.current()
    if (at === null) return
    const { block, readAtMs, head, pools } = at
    post({ kind: 'state', network, state: { block, readAtMs, pools: pools.length }, head, counts: one.source.counts() })
    if (now() - one.liquiditySentMs < LIQUIDITY_MS) return
    one.liquiditySentMs = now()
    post({ kind: 'liquidity', network, liquidity: one.source.liquidity(), depth: one.source.depth() })
  }

  function answer(message: Extract<ToThread, { kind: 'route' }>): void {
    const { id, order, atMs } = message
    const startedAt = performance.now()
    const seconds = () => (performance.now() - startedAt) / 1000
    const refuse = (code: ErrorCode, text: string) =>
      post({ kind: 'refused', id, code, message: text, seconds: seconds() })
    try {
      post({ kind: 'routed', id, swap: findRoute(served.get(order.network), order, now(), atMs), seconds: seconds() })
    } catch (err) {
      if (!(err instanceof AppError)) log.error({ err, network: order.network }, 'the route search failed')
      if (err instanceof AppError) refuse(err.code, err.message)
      else refuse('INTERNAL', 'the route could not be computed')
    }
  }

  const listener = (message: ToThread) => {
    if (message.kind === 'route') answer(message)
    if (message.kind === 'list-pools')
      post({ kind: 'pools', id: message.id, pools: listPools(served.get(message.network)?.source, log) })
    if (message.kind === 'pauses') for (const { source } of served.values()) source.pause(message.scopes)
  }
  port.on('message', listener)
  return {
    async stop() {
      port.off('message', listener)
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Null if they are not read yet. A failure must not end the thread. */
function listPools(source: PoolSource | undefined, log: Log): readonly ListedPool[] | null {
  if (source === undefined || source.current() === null) return null
  try {
    return source.listPools()
  } catch (err) {
    log.error({ err, network: source.network }, 'the pools could not be listed')
    return null
  }
}

type RoutableNetwork = ServedNetwork & Readonly<{ find: ReturnType<typeof createRouteFinder> }>

function findRoute(
  network: RoutableNetwork | undefined,
  order: RouteOrder,
  nowMs: number,
  requestedMs: number,
): RoutedSwap {
  if (nowMs - requestedMs > QUEUE_MS) throw new AppError('OVERLOADED', 'the router is overloaded: try again')
  const at = network?.source.current() ?? null
  if (network === undefined || at === null)
    throw new AppError('NETWORK_UNAVAILABLE', 'the pools of this network are not read yet')
  if (nowMs - at.readAtMs > network.staleMs)
    throw new AppError('NETWORK_UNAVAILABLE', 'the pools of this network are not current')
  try {
    return network.find(at, order)
  } catch (error) {
    if (error instanceof AppError && error.code === 'NO_ROUTE') {
      // The pools of these tokens may not be tracked yet; after the search a repeated request can succeed.
      network.source.request(order.tokenIn)
      network.source.request(order.tokenOut)
    }
    throw error
  }
}
