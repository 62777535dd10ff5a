import { expect, test } from 'vitest'
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
const deps: ThreadRouterDeps = {
  entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  workerInput: {},
  snapshots: { load: async () => null, save: async () => undefined },
  log: createLog({ level: 'silent', pretty: false }),
  metrics: createMetrics({ defaults: false }),
  answerMs: 1_000,
  heapMb: 24,
}
const order = (network: string) => ({ network, tokenIn: '0x01', tokenOut: '0x02', amountIn: 1n })

test.for([
  ['crash', 'NETWORK_UNAVAILABLE'],
  ['hang', 'OVERLOADED'],
  ['eat', 'NETWORK_UNAVAILABLE'],
] as const)('replaces a thread with the fault: %s', { timeout: 20_000 }, async ([fault, code]) => {
  const router = createThreadRouter(deps)
  const refused = (network: string) =>
    router.route(order(network)).then(
      () => null,
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    )
  // The thread does not get the environment of the process.
  expect(await refused('eth')).toBe('NO_ROUTE: bare')
  const [first, waiting] = await Promise.all([refused(fault), refused('eth')])
  expect(first).toContain(code)
  expect(waiting).toMatch(/^(NETWORK_UNAVAILABLE|OVERLOADED)/)
  const deadline = Date.now() + 10_000
  while ((await refused('eth')) !== 'NO_ROUTE: bare') {
    expect(Date.now()).toBeLessThan(deadline)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await router.stop()
  expect(await refused('eth')).toContain('NETWORK_UNAVAILABLE')
})
