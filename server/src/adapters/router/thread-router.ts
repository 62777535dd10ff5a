import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { ListedPool, PoolSnapshots, PoolsDepth } from '../../swap/ports/pools.ts'
import type { PoolState, RoutedSwap, RouteOrder, Router } from '../../swap/ports/router.ts'
import type { FromThread, ToThread } from './messages.ts'
import { createPendingOrders } from './pending-orders.ts'
import type { RouterMetrics } from './router-metrics.ts'

export type ThreadRouterDeps = Readonly<{
  /** The thread's program. */
  entry: URL
  /** First message to the program; plain values only. */
  workerInput: unknown
  /** A thread of the same program that was opened before and has got no message. */
  opened?: Worker
  snapshots: PoolSnapshots
  /** The present pauses, by scope; the same set until they are read again. */
  pauses: () => ReadonlySet<string>
  /** Called with every report of a network's depth, four times a minute. */
  onDepth: (network: string, depth: PoolsDepth) => void
  log: Log
  metrics: RouterMetrics
  /** Concurrent orders; more are refused. */
  queueMax?: number
  /** Without an answer for this time the thread is terminated as hung. */
  answerMs?: number
  /** Heap limit of the thread in MB: exceeding it ends the thread, not the process. */
  heapMb?: number
}>

export type ThreadRouter = Router & Readonly<{ stop(): Promise<void> }>

const QUEUE_MAX = 256
const ANSWER_MS = 5_000
const RESTART_MS = 500
const RESTART_MAX_MS = 30_000
/** A thread that ran this long did not fail at its start: the restart delay is reset. */
const STABLE_MS = 60_000
const HEAP_MB = 256
const YOUNG_MB = 8

/** The thread talks to nodes and needs no secrets of the environment. The compile cache halves the time of its start. */
function threadEnv(): NodeJS.ProcessEnv {
  // Node keeps the cache of each of its versions in a folder of its own.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** Loads a program in a thread, where it waits for its first message. */
export function openThread(entry: URL, heapMb: number = HEAP_MB): Worker {
  const opened = new Worker(entry, {
    env: threadEnv(),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  // An error before the router listens must not end the process; the router opens the thread again.
  opened.on('error', () => undefined)
  return opened
}

/** The router in its own thread: a search never blocks requests, and a crash only fails the pending orders. */
export function createThreadRouter(deps: ThreadRouterDeps): ThreadRouter {
  const { queueMax = QUEUE_MAX, answerMs = ANSWER_MS } = deps
  const orders = createPendingOrders<RouteOrder, RoutedSwap>(queueMax, answerMs)
  const lists = createPendingOrders<string, readonly ListedPool[]>(queueMax, answerMs)
  const reports = createReports(deps)
  const sendPauses = createPauseSender(deps.pauses)
  const thread = superviseThread(deps, {
    receive(message, post) {
      if (message.kind === 'routed' || message.kind === 'refused') {
        const pending = orders.take(message.id)
        if (!pending) return
        const isRouted = message.kind === 'routed'
        deps.metrics.routed(pending.order.network, isRouted ? 'found' : 'refused', message.seconds)
        if (isRouted) pending.resolve(message.swap)
        else pending.reject(new AppError(message.code, message.message))
      } else if (message.kind === 'state') {
        reports.addState(message)
        sendPauses(post)
      } else if (message.kind === 'liquidity') reports.addLiquidity(message)
      else if (message.kind === 'pools') {
        const pending = lists.take(message.id)
        if (message.pools === null) pending?.reject(notRead())
        else pending?.resolve(message.pools)
      } else if (message.kind === 'log') deps.log[message.level](message.fields, message.message)
      else void handleSnapshot(message, deps.snapshots).then(post)
    },
    onExit() {
      reports.clear()
      sendPauses.reset()
      orders.rejectAll(restarting)
      lists.rejectAll(restarting)
    },
  })

  return {
    async route(order) {
      const worker = thread.worker()
      if (worker === null) throw restarting()
      return orders.add(
        order,
        (id) => {
          const post = (message: ToThread) => worker.postMessage(message)
          // Before the order, so that no answer uses what is paused now.
          sendPauses(post)
          post({ kind: 'route', id, order, atMs: Date.now() })
        },
        // A thread that hangs in one order cannot answer the others.
        () => thread.endHung(worker),
      )
    },
    state: reports.state,
    liquidity: reports.liquidity,
    depth: reports.depth,
    async listPools(network) {
      const worker = thread.worker()
      if (worker === null) throw restarting()
      return lists.add(
        network,
        (id) => worker.postMessage({ kind: 'list-pools', id, network } satisfies ToThread),
        () => thread.endHung(worker),
      )
    },
    stop: () => thread.stop(),
  }
}

type Report<Kind extends FromThread['kind']> = Extract<FromThread, { kind: Kind }>

/** The newest reports of the thread by network. */
function createReports({ metrics, onDepth }: Pick<ThreadRouterDeps, 'metrics' | 'onDepth'>) {
  const states = new Map<string, PoolState>()
  const liquidities = new Map<string, ReadonlyMap<string, number>>()
  const depths = new Map<string, PoolsDepth>()
  return {
    state: (network: string) => states.get(network) ?? null,
    liquidity: (network: string) => liquidities.get(network) ?? new Map<string, number>(),
    depth: (network: string) => depths.get(network) ?? null,
    addState({ network, state, head, counts }: Report<'state'>): void {
      states.set(network, state)
      const { pools, block, readAtMs } = state
      metrics.poolsAt(network, { pools, height: block.height, head, readAtMs })
      metrics.poolFaults(network, counts)
    },
    addLiquidity({ network, liquidity, depth }: Report<'liquidity'>): void {
      liquidities.set(network, liquidity)
      depths.set(network, depth)
      onDepth(network, depth)
    },
    /** Of a thread that has ended. */
    clear: () => states.clear(),
  }
}

/** Sends the pauses to the thread when they have changed. */
function createPauseSender(pauses: ThreadRouterDeps['pauses']) {
  let read: ReadonlySet<string> | undefined
  let sent = ''
  const send = (post: (message: ToThread) => void): void => {
    const current = pauses()
    if (current === read) return
    read = current
    const scopes = [...current].sort()
    if (scopes.join() === sent) return
    sent = scopes.join()
    post({ kind: 'pauses', scopes })
  }
  /** A new thread knows no pauses. */
  const reset = (): void => {
    read = undefined
    sent = ''
  }
  return Object.assign(send, { reset })
}

const notRead = (): AppError => new AppError('NETWORK_UNAVAILABLE', 'the pools of this network are not read yet')
const restarting = (): AppError => new AppError('NETWORK_UNAVAILABLE', 'the router is restarting: try again')

type Thread = Readonly<{
  worker(): Worker | null
  /** A thread that has not sent anything yet is still loading its program: a busy machine needs longer than an answer may take. */
  endHung(worker: Worker): void
  stop(): Promise<void>
}>
type Listener = Readonly<{
  receive(message: FromThread, post: (message: ToThread) => void): void
  onExit(): void
}>

const isRunning = ({ threadId }: Worker): boolean => threadId !== -1

/** Restarts the worker when it exits, with exponential backoff while it exits early. */
function superviseThread(deps: ThreadRouterDeps, { receive, onExit }: Listener): Thread {
  const { entry, workerInput, log, heapMb } = deps
  let opened = deps.opened ?? null
  let crashes = 0
  let restart: NodeJS.Timeout | null = null
  let isStopped = false
  const loaded = new WeakSet<Worker>()
  let worker: Worker | null = start()

  function start(): Worker {
    const startedAt = performance.now()
    const started = opened && isRunning(opened) ? opened : openThread(entry, heapMb)
    opened = null
    started.postMessage({ kind: 'begin', input: workerInput } satisfies ToThread)
    started.on('message', (message: FromThread) => {
      loaded.add(started)
      receive(message, (answer) => started.postMessage(answer))
    })
    started.on('error', (err) => log.error({ err }, 'the router thread crashed'))
    started.on('exit', () => {
      worker = null
      onExit()
      if (isStopped) return
      if (performance.now() - startedAt >= STABLE_MS) crashes = 0
      const pauseMs = Math.min(RESTART_MS * 2 ** crashes++, RESTART_MAX_MS)
      log.warn({ pauseMs }, 'the router thread restarts')
      restart = setTimeout(() => {
        worker = start()
      }, pauseMs)
    })
    return started
  }

  return {
    worker: () => worker,
    endHung(hung) {
      if (loaded.has(hung)) void hung.terminate()
    },
    async stop() {
      isStopped = true
      if (restart !== null) clearTimeout(restart)
      await worker?.terminate()
    },
  }
}

async function handleSnapshot(
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
