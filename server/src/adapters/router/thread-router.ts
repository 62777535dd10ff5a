import { Worker } from 'node:worker_threads'
import { AppError } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { PoolSnapshots } from '../../swap/ports/pools.ts'
import type { PoolState, Router } from '../../swap/ports/router.ts'
import type { FromThread, ToThread } from './messages.ts'
import { createPendingOrders } from './pending-orders.ts'
import type { RouterMetrics } from './router-metrics.ts'

export type ThreadRouterDeps = Readonly<{
  /** The thread's program. */
  entry: URL
  /** What the program is told first; plain values alone. */
  workerInput: unknown
  /** A thread of the same program that was opened before and told nothing yet. */
  opened?: Worker
  snapshots: PoolSnapshots
  log: Log
  metrics: RouterMetrics
  /** Orders under way at once; more are refused. */
  queueMax?: number
  /** Without an answer for so long the thread hangs, and is ended. */
  answerMs?: number
  /** Megabytes of the thread's heap: what takes more ends the thread, not the process. */
  heapMb?: number
}>

/** The router, and the end of its thread. */
export type ThreadRouter = Router & Readonly<{ stop(): Promise<void> }>

const QUEUE_MAX = 256
const ANSWER_MS = 5_000
const RESTART_MS = 500
const RESTART_MAX_MS = 30_000
/** A thread that lived so long did not end of what it began with. */
const SOUND_MS = 60_000
const HEAP_MB = 256
const YOUNG_MB = 8

/** Loads a program in a thread, where it waits for what to do. */
export function openThread(entry: URL, heapMb: number = HEAP_MB): Worker {
  const opened = new Worker(entry, {
    // The thread speaks to nodes: it has no use for what the environment holds.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  // One that ends before anybody listens ends alone: it is opened again where it is wanted.
  opened.on('error', () => undefined)
  return opened
}

/** The router in a thread of its own: a search never holds up a request, and a crash ends no more than the orders under way. */
export function createThreadRouter(deps: ThreadRouterDeps): ThreadRouter {
  const orders = createPendingOrders(deps.queueMax ?? QUEUE_MAX, deps.answerMs ?? ANSWER_MS)
  const states = new Map<string, PoolState>()
  const liquidities = new Map<string, ReadonlyMap<string, number>>()
  const thread = keepRunning(deps, {
    receive(message, tell) {
      if (message.kind === 'routed' || message.kind === 'refused') {
        const found = orders.take(message.id)
        if (!found) return
        const isFound = message.kind === 'routed'
        deps.metrics.routed(found.order.network, isFound ? 'found' : 'refused', message.seconds)
        if (isFound) found.resolve(message.swap)
        else found.reject(new AppError(message.code, message.message))
      } else if (message.kind === 'state') {
        const { network, state, head, counts } = message
        states.set(network, state)
        const { pools, block, readAtMs } = state
        deps.metrics.poolsAt(network, { pools, height: block.height, head, readAtMs })
        deps.metrics.poolFaults(network, counts)
      } else if (message.kind === 'liquidity') liquidities.set(message.network, message.liquidity)
      else if (message.kind === 'log') deps.log[message.level](message.fields, message.message)
      else void keep(message, deps.snapshots).then(tell)
    },
    ended() {
      states.clear()
      orders.rejectAll(restarting)
    },
  })

  return {
    async route(order) {
      const worker = thread.worker()
      if (worker === null) throw restarting()
      return orders.add(
        order,
        (id) => worker.postMessage({ kind: 'route', id, order, atMs: Date.now() } satisfies ToThread),
        // Whoever computes for seconds will not come back to the others.
        () => void worker.terminate(),
      )
    },
    state: (network) => states.get(network) ?? null,
    liquidity: (network) => liquidities.get(network) ?? new Map(),
    stop: () => thread.stop(),
  }
}

const restarting = (): AppError => new AppError('NETWORK_UNAVAILABLE', 'the router is starting again')

type Thread = Readonly<{ worker(): Worker | null; stop(): Promise<void> }>
type Listener = Readonly<{
  receive(message: FromThread, tell: (message: ToThread) => void): void
  ended(): void
}>

const isAlive = ({ threadId }: Worker): boolean => threadId !== -1

/** A worker that is started again, slower and slower as long as it ends soon. */
function keepRunning(deps: ThreadRouterDeps, { receive, ended }: Listener): Thread {
  const { entry, workerInput, log, heapMb } = deps
  let opened = deps.opened ?? null
  let crashes = 0
  let restart: NodeJS.Timeout | null = null
  let isStopped = false
  let worker: Worker | null = start()

  function start(): Worker {
    const startedAt = performance.now()
    const started = opened && isAlive(opened) ? opened : openThread(entry, heapMb)
    opened = null
    started.postMessage({ kind: 'begin', input: workerInput } satisfies ToThread)
    started.on('message', (message: FromThread) => receive(message, (answer) => started.postMessage(answer)))
    started.on('error', (err) => log.error({ err }, 'the router crashed'))
    started.on('exit', () => {
      worker = null
      ended()
      if (isStopped) return
      if (performance.now() - startedAt >= SOUND_MS) crashes = 0
      const pauseMs = Math.min(RESTART_MS * 2 ** crashes++, RESTART_MAX_MS)
      log.warn({ pauseMs }, 'the router starts again')
      restart = setTimeout(() => {
        worker = start()
      }, pauseMs)
    })
    return started
  }

  return {
    worker: () => worker,
    async stop() {
      isStopped = true
      if (restart !== null) clearTimeout(restart)
      await worker?.terminate()
    },
  }
}

async function keep(
  message: Extract<FromThread, { kind: 'load' | 'save' }>,
  snapshots: PoolSnapshots,
): Promise<ToThread> {
  const { id } = message
  if (message.kind === 'load')
    return { kind: 'loaded', id, snapshot: await snapshots.load(message.network).catch(() => null) }
  try {
    await snapshots.save(message.snapshot)
    return { kind: 'saved', id, fault: null }
  } catch (error) {
    return { kind: 'saved', id, fault: error instanceof Error ? error.message : 'unknown' }
  }
}
