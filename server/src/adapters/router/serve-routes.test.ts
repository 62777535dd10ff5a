import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createLog } from '../../lib/log.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { RouteOrder } from '../../swap/ports/router.ts'
import type { UniswapV2Pool } from '../../swap/routing/pools/uniswap-v2.ts'
import type { FromThread, ToThread } from './messages.ts'
import { createTurnPause, serveRoutes } from './serve-routes.ts'

const STALE_MS = 30_000
const [native, gold, lead, feeToken] = ['0x01', '0x02', '0x03', '0x04']
const pool: UniswapV2Pool = {
  kind: 'uniswap-v2',
  id: '0xaa',
  address: '0xaa',
  dex: 'dex',
  tokens: [native, gold],
  reserves: [10n ** 20n, 10n ** 20n],
  feePpm: 3_000,
}

/** Starts the thread's server; the test has the other port and the clock. */
function startThread() {
  const { port1: port, port2: clientPort } = new MessageChannel()
  const clock = { ms: 1_000_000 }
  const requestedTokens: string[] = []
  const pauses: unknown[] = []
  const block = { height: 7, hash: '0xb7' }
  const readAtMs = clock.ms
  const source: PoolSource = {
    network: 'eth',
    current: () => ({
      block,
      readAtMs,
      head: 7,
      pools: [pool],
      listed: new Set([native, gold]),
      refusedTokens: new Map([[feeToken, 'takes a fee on transfer']]),
      millionGasPrice: 0n,
      nativeDecimals: 18,
      wrapped: native,
    }),
    counts: () => ({ reorgs: 0, differences: 0, rereads: 1 }),
    liquidity: () => new Map(),
    depth: () => ({ units: 1, maximumUnits: 2 }),
    listPools: () => [{ id: pool.id, dex: pool.dex, tokens: pool.tokens, dollars: 7 }],
    pause: (scopes) => pauses.push([...scopes]),
    request: (token) => requestedTokens.push(token),
    advance: async () => undefined,
  }
  const served = serveRoutes({
    port,
    networks: [{ source, paceMs: 10_000, blockTimeMs: 1_000, staleMs: STALE_MS }],
    budgetMs: 50,
    log: createLog({ level: 'silent', pretty: false }),
    now: () => clock.ms,
  })
  return {
    clock,
    requestedTokens,
    pauses,
    pause: (scopes: readonly string[]) => clientPort.postMessage({ kind: 'pauses', scopes } satisfies ToThread),
    ask: (order: RouteOrder) => ask(clientPort, { kind: 'route', id: 1, order, atMs: clock.ms }),
    list: (network: string) => ask(clientPort, { kind: 'list-pools', id: 3, network }),
    askAt: (order: RouteOrder, atMs: number) => ask(clientPort, { kind: 'route', id: 1, order, atMs }),
    async stop() {
      await served.stop()
      clientPort.close()
    },
  }
}

function ask(clientPort: MessagePort, message: ToThread): Promise<FromThread> {
  return new Promise((resolve) => {
    const listener = (answer: FromThread) => {
      if (answer.kind !== 'routed' && answer.kind !== 'refused' && answer.kind !== 'pools') return
      clientPort.off('message', listener)
      resolve(answer)
    }
    clientPort.on('message', listener)
    clientPort.postMessage(message)
  })
}

const order = (tokenIn: string, tokenOut: string, amountIn = 10n ** 18n, network = 'eth'): RouteOrder => ({
  network,
  tokenIn,
  tokenOut,
  amountIn,
})

test('quotes from state within the age limit of its network, not from older state', async () => {
  const thread = startThread()
  thread.clock.ms += STALE_MS
  // 10^18 · 997 · 10^20 ÷ (10^20 · 1000 + 10^18 · 997), as in UniswapV2Library.getAmountOut.
  expect(await thread.ask(order(native, gold))).toMatchObject({
    kind: 'routed',
    swap: { amountOut: 987_158_034_397_061_298n, block: { height: 7 }, middleOut: 10n ** 18n },
  })
  thread.clock.ms += 1
  expect(await thread.ask(order(native, gold))).toMatchObject({ kind: 'refused', code: 'NETWORK_UNAVAILABLE' })
  await thread.stop()
})

test('names the cause of a refusal, and requests the pools of unknown tokens', async () => {
  const thread = startThread()
  expect(await thread.ask(order(native, lead))).toMatchObject({ kind: 'refused', code: 'NO_ROUTE' })
  expect(thread.requestedTokens).toEqual([native, lead])
  // One unit pays nothing after the fee.
  expect(await thread.ask(order(native, gold, 1n))).toMatchObject({ kind: 'refused', code: 'INSUFFICIENT_LIQUIDITY' })
  expect(await thread.ask(order(native, gold, 1n, 'base'))).toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  await thread.stop()
})

test('names the fee-on-transfer token in the refusal', async () => {
  const thread = startThread()
  const refused = { kind: 'refused', code: 'NO_ROUTE', message: expect.stringContaining('0x04 takes a fee') }
  expect(await thread.ask(order(native, feeToken))).toMatchObject(refused)
  expect(await thread.ask(order(feeToken, native))).toMatchObject(refused)
  await thread.stop()
})

test('refuses orders whose caller has timed out', async () => {
  const thread = startThread()
  expect(await thread.askAt(order(native, gold), thread.clock.ms - 2_001)).toMatchObject({ code: 'OVERLOADED' })
  await thread.stop()
})

test('applies pauses before the next order', async () => {
  const thread = startThread()
  thread.pause(['token:0x02@eth'])
  await thread.ask(order(native, gold))
  expect(thread.pauses).toEqual([['token:0x02@eth']])
  await thread.stop()
})

test('lists the pools of a network that it follows, and none of another', async () => {
  const thread = startThread()
  const listed = { id: '0xaa', dex: 'dex', tokens: [native, gold], dollars: 7 }
  expect(await thread.list('eth')).toEqual({ kind: 'pools', id: 3, pools: [listed] })
  expect(await thread.list('base')).toEqual({ kind: 'pools', id: 3, pools: null })
  await thread.stop()
})

test('reads a network at its pace, and more and more slowly while its next block is overdue', () => {
  let nowMs = 1_000_000
  const pauseAfter = createTurnPause({ paceMs: 250, blockTimeMs: 250 }, () => nowMs)
  const later = (ms: number, head: number) => {
    nowMs += ms
    return pauseAfter(head)
  }
  expect(later(60_000, 7)).toBe(250)
  // Five block times, and ten paces.
  expect([later(1_250, 7), later(2_500, 7), later(500, 7)]).toEqual([250, 250, 300])
  expect([later(17_000, 7), later(30_000, 7), later(3_600_000, 7)]).toEqual([2_000, 5_000, 5_000])
  // A new block ends that, also one of a shorter chain.
  for (const head of [8, 7]) expect([later(5_000, head), later(1_250, head)]).toEqual([250, 250])
  const slow = createTurnPause({ paceMs: 2_000, blockTimeMs: 12_000 }, () => nowMs)
  const pauses = [0, 60_000, 20_000, 10_000].map((ms) => {
    nowMs += ms
    return slow(7)
  })
  expect(pauses).toEqual([2_000, 2_000, 2_000, 3_000])
})
