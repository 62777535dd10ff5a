import type { MessagePort } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'
import { createRouteFinder } from './find-route.ts'
import type { FromThread, ToThread } from './messages.ts'

/** One network as the thread serves it. */
export type ServedNetwork = Readonly<{
  source: PoolSource
  paceMs: number
  /** Older state answers no order. */
  staleMs: number
}>

export type ServeOptions = Readonly<{
  port: MessagePort
  networks: readonly ServedNetwork[]
  budgetMs: number
  log: Log
  now?: () => number
}>

/** Who waited longer than this for his turn has gone. */
const QUEUE_MS = 2_000
const BACKOFF_MS = 15_000
const LIQUIDITY_MS = 15_000

/** The thread's side: follows the chains, and answers orders one after another. */
export function serveRoutes({ port, networks, budgetMs, log, now = Date.now }: ServeOptions): {
  stop(): Promise<void>
} {
  const served = new Map(
    networks.map((one) => [one.source.network, { ...one, find: createRouteFinder({ budgetMs }), toldMs: 0 }]),
  )
  const tell = (message: FromThread) => port.postMessage(message)

  const loops: Loop[] = [...served.values()].map((one) =>
    startLoop({
      paceMs: one.paceMs,
      backoffMs: BACKOFF_MS,
      async turn() {
        const more = await one.source.advance()
        tellState(one)
        return more
      },
      onError: (err) => log.warn({ err, network: one.source.network }, 'the pools are not current'),
    }),
  )

  function tellState(one: { source: PoolSource; toldMs: number }): void {
    const { network } = one.source
    const at = one.source.current()
    if (at === null) return
    const { block, readAtMs, head, pools } = at
    tell({ kind: 'state', network, state: { block, readAtMs, pools: pools.length }, head, counts: one.source.counts() })
    if (now() - one.toldMs < LIQUIDITY_MS) return
    one.toldMs = now()
    tell({ kind: 'liquidity', network, liquidity: one.source.liquidity() })
  }

  function answer(message: Extract<ToThread, { kind: 'route' }>): void {
    const { id, order, atMs } = message
    const began = performance.now()
    const seconds = () => (performance.now() - began) / 1000
    const refuse = (code: ErrorCode, text: string) =>
      tell({ kind: 'refused', id, code, message: text, seconds: seconds() })
    try {
      tell({ kind: 'routed', id, swap: find(served.get(order.network), order, now(), atMs), seconds: seconds() })
    } catch (err) {
      if (!(err instanceof AppError)) log.error({ err, network: order.network }, 'a route failed')
      if (err instanceof AppError) refuse(err.code, err.message)
      else refuse('INTERNAL', 'the route could not be computed')
    }
  }

  const listener = (message: ToThread) => {
    if (message.kind === 'route') answer(message)
  }
  port.on('message', listener)
  return {
    async stop() {
      port.off('message', listener)
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

type Finding = ServedNetwork & Readonly<{ find: ReturnType<typeof createRouteFinder> }>

function find(network: Finding | undefined, order: RouteOrder, nowMs: number, askedMs: number): RoutedSwap {
  if (nowMs - askedMs > QUEUE_MS) throw new AppError('OVERLOADED', 'the router has too much to search')
  const at = network?.source.current() ?? null
  if (network === undefined || at === null)
    throw new AppError('NETWORK_UNAVAILABLE', 'the pools of this network are not read yet')
  if (nowMs - at.readAtMs > network.staleMs)
    throw new AppError('NETWORK_UNAVAILABLE', 'the pools of this network are not current')
  try {
    return network.find(at, order)
  } catch (error) {
    if (error instanceof AppError && error.code === 'NO_ROUTE') {
      // Perhaps a pool that we did not look for: whoever asks again in a moment gets it.
      network.source.want(order.tokenIn)
      network.source.want(order.tokenOut)
    }
    throw error
  }
}
