import { expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { until } from '../../../../test/support/until.ts'
import { createMetrics } from '../../app/metrics.ts'
import { createLog } from '../../lib/log.ts'
import { createThreadRouter, type ThreadRouterDeps } from './thread-router.ts'

/** A thread that refuses every order; some network names trigger a fault. */
const program = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ kind, id, order }) => {
    if (kind === 'begin') return
    if (order.network === 'crash') throw new Error('intended')
    while (order.network === 'hang') {}
    const memory = []
    while (order.network === 'eat') memory.push(new Array(1e5).fill(id))
    parentPort.postMessage({ kind: 'refused', id, code: 'NO_ROUTE', message: process.env.PATH ?? 'bare', seconds: 0 })
  })
`
const noScopes: ReadonlySet<string> = new Set()
const deps: ThreadRouterDeps = {
  entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  workerInput: {},
  snapshots: { load: async () => null, save: async () => undefined },
  pauses: () => noScopes,
  onDepth: () => undefined,
  log: createLog({ level: 'silent', pretty: false }),
  metrics: createMetrics({ defaults: false }),
  answerMs: PATIENCE_MS,
  heapMb: 24,
}
const order = (network: string) => ({ network, tokenIn: '0x01', tokenOut: '0x02', amountIn: 1n })

test.for([
  ['crash', 'NETWORK_UNAVAILABLE'],
  ['hang', 'OVERLOADED'],
  ['eat', 'NETWORK_UNAVAILABLE'],
] as const)('replaces a thread with the fault: %s', async ([fault, code]) => {
  // A thread that hangs must be noticed soon; any other answers when the machine lets it.
  const router = createThreadRouter(fault === 'hang' ? { ...deps, answerMs: 6_000 } : deps)
  const refused = (network: string) =>
    router.route(order(network)).then(
      () => null,
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    )
  // The thread does not get the environment of the process.
  await until('the thread answers', async () => (await refused('eth')) === 'NO_ROUTE: bare')
  const [first, waiting] = await Promise.all([refused(fault), refused('eth')])
  expect(first).toContain(code)
  expect(waiting).toMatch(/^(NETWORK_UNAVAILABLE|OVERLOADED)/)
  await until('the thread answers again', async () => (await refused('eth')) === 'NO_ROUTE: bare')
  await router.stop()
  expect(await refused('eth')).toContain('NETWORK_UNAVAILABLE')
})

test('orders that arrive while a thread loads do not end it', async () => {
  const opened: string[] = []
  const slow = `import { parentPort } from 'node:worker_threads'
    await new Promise((loaded) => setTimeout(loaded, 2_000))
    parentPort.on('message', ({ kind, id }) => {
      if (kind === 'route') parentPort.postMessage({ kind: 'refused', id, code: 'NO_ROUTE', message: 'slow', seconds: 0 })
    })`
  const log = { ...deps.log, warn: (_: unknown, text: string) => void opened.push(text) } as unknown as typeof deps.log
  const entry = new URL(`data:text/javascript,${encodeURIComponent(slow)}`)
  const router = createThreadRouter({ ...deps, entry, log, answerMs: 500 })
  const ask = () => router.route(order('eth')).catch((error: Error & { code: string }) => error.code)
  expect(await ask()).toBe('OVERLOADED')
  expect(opened).toEqual([])
  await until('the thread answers', async () => (await ask()) === 'NO_ROUTE')
  await router.stop()
})

/** Refuses every order with the pauses that it was sent, and how often. */
const pausedProgram = `
  import { parentPort } from 'node:worker_threads'
  let [scopes, times] = [[], 0]
  parentPort.on('message', (message) => {
    if (message.kind === 'pauses') [scopes, times] = [message.scopes, times + 1]
    if (message.kind !== 'route') return
    if (message.order.network === 'crash') throw new Error('intended')
    const text = [times, ...scopes].join(' ')
    parentPort.postMessage({ kind: 'refused', id: message.id, code: 'NO_ROUTE', message: text, seconds: 0 })
  })
`

test('sends pauses with the first order after a change, and to a new thread', async () => {
  let scopes: ReadonlySet<string> = new Set()
  const entry = new URL(`data:text/javascript,${encodeURIComponent(pausedProgram)}`)
  const router = createThreadRouter({ ...deps, entry, pauses: () => scopes })
  const ask = (network = 'eth') => router.route(order(network)).catch((error: Error) => error.message)
  await until('the thread answers', async () => (await ask()) === '0')
  scopes = new Set(['token:0x02@eth', 'dex:x@base'])
  expect(await ask()).toBe('1 dex:x@base token:0x02@eth')
  // Read again, unchanged.
  scopes = new Set(['dex:x@base', 'token:0x02@eth'])
  expect(await ask()).toBe('1 dex:x@base token:0x02@eth')
  scopes = new Set()
  expect(await ask()).toBe('2')
  scopes = new Set(['dex:x@base'])
  await ask('crash')
  await until('the thread answers again', async () => (await ask()) === '1 dex:x@base')
  await router.stop()
})

/** Lists pools of `eth` alone, and stops at `crash`. */
const listingProgram = `
  import { parentPort } from 'node:worker_threads'
  const pools = [{ id: '0xaa', dex: 'dex', tokens: ['0x01', '0x02'], dollars: 7 }]
  parentPort.on('message', ({ kind, id, network }) => {
    if (kind === 'begin') {
      parentPort.postMessage({ kind: 'liquidity', network: 'eth', liquidity: new Map(), depth: { units: 1, maximumUnits: 2 } })
      return
    }
    if (network === 'crash') throw new Error('intended')
    parentPort.postMessage({ kind: 'pools', id, pools: network === 'eth' ? pools : null })
  })
`

test('lists pools of the thread, with the depth that it reported, and fails while they are not read or it restarts', async () => {
  const entry = new URL(`data:text/javascript,${encodeURIComponent(listingProgram)}`)
  const router = createThreadRouter({ ...deps, entry })
  await until('the depth is reported', async () => router.depth('eth') !== null)
  expect([router.depth('eth'), router.depth('base')]).toEqual([{ units: 1, maximumUnits: 2 }, null])
  expect(await router.listPools('eth')).toEqual([{ id: '0xaa', dex: 'dex', tokens: ['0x01', '0x02'], dollars: 7 }])
  for (const network of ['base', 'crash'])
    await expect(router.listPools(network)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  await router.stop()
})
