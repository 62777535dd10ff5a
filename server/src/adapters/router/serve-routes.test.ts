import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createLog } from '../../lib/log.ts'
import type { PoolSource } from '../../swap/ports/pools.ts'
import type { RouteOrder } from '../../swap/ports/router.ts'
import type { UniswapV2Pool } from '../../swap/routing/pools/uniswap-v2.ts'
import type { FromThread, ToThread } from './messages.ts'
import { serveRoutes } from './serve-routes.ts'

const STALE_MS = 30_000
const [coin, gold, lead, taxed] = ['0x01', '0x02', '0x03', '0x04']
const pool: UniswapV2Pool = {
  kind: 'uniswap-v2',
  id: '0xaa',
  address: '0xaa',
  dex: 'dex',
  tokens: [coin, gold],
  reserves: [10n ** 20n, 10n ** 20n],
  feePpm: 3_000,
}

/** A thread of which the test holds the other end and the clock. */
function startThread() {
  const { port1: port, port2: far } = new MessageChannel()
  const clock = { ms: 1_000_000 }
  const wanted: string[] = []
  const block = { height: 7, hash: '0xb7' }
  const readAtMs = clock.ms
  const source: PoolSource = {
    network: 'eth',
    current: () => ({ block, readAtMs, head: 7, pools: [pool], taxed: new Set([taxed]), gasPrice: 0n, wrapped: coin }),
    counts: () => ({ reorgs: 0, differences: 0, rereads: 1 }),
    liquidity: () => new Map(),
    want: (token) => wanted.push(token),
    advance: async () => undefined,
  }
  const served = serveRoutes({
    port,
    networks: [{ source, paceMs: 10_000, staleMs: STALE_MS }],
    budgetMs: 50,
    log: createLog({ level: 'silent', pretty: false }),
    now: () => clock.ms,
  })
  return {
    clock,
    wanted,
    ask: (order: RouteOrder) => ask(far, { kind: 'route', id: 1, order, atMs: clock.ms }),
    askAt: (order: RouteOrder, atMs: number) => ask(far, { kind: 'route', id: 1, order, atMs }),
    async stop() {
      await served.stop()
      far.close()
    },
  }
}

function ask(far: MessagePort, message: ToThread): Promise<FromThread> {
  return new Promise((resolve) => {
    const listener = (answer: FromThread) => {
      if (answer.kind !== 'routed' && answer.kind !== 'refused') return
      far.off('message', listener)
      resolve(answer)
    }
    far.on('message', listener)
    far.postMessage(message)
  })
}

const order = (tokenIn: string, tokenOut: string, amountIn = 10n ** 18n, network = 'eth'): RouteOrder => ({
  network,
  tokenIn,
  tokenOut,
  amountIn,
})

test('state within the bound of its network is quoted from, older state is not', async () => {
  const thread = startThread()
  thread.clock.ms += STALE_MS
  // 10^18 · 997 · 10^20 ÷ (10^20 · 1000 + 10^18 · 997), as UniswapV2Library.getAmountOut has it.
  expect(await thread.ask(order(coin, gold))).toMatchObject({
    kind: 'routed',
    swap: { amountOut: 987_158_034_397_061_298n, block: { height: 7 }, middleOut: 10n ** 18n },
  })
  thread.clock.ms += 1
  expect(await thread.ask(order(coin, gold))).toMatchObject({ kind: 'refused', code: 'NETWORK_UNAVAILABLE' })
  await thread.stop()
})

test('says what is missing, and looks for the pools of tokens that it does not know', async () => {
  const thread = startThread()
  expect(await thread.ask(order(coin, lead))).toMatchObject({ kind: 'refused', code: 'NO_ROUTE' })
  expect(thread.wanted).toEqual([coin, lead])
  // One unit pays nothing, and so does less than the fee leaves.
  expect(await thread.ask(order(coin, gold, 1n))).toMatchObject({ kind: 'refused', code: 'INSUFFICIENT_LIQUIDITY' })
  expect(await thread.ask(order(coin, gold, 1n, 'base'))).toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  await thread.stop()
})

test('says which token takes a fee on transfer', async () => {
  const thread = startThread()
  const refused = { kind: 'refused', code: 'NO_ROUTE', message: expect.stringContaining('0x04 takes a fee') }
  expect(await thread.ask(order(coin, taxed))).toMatchObject(refused)
  expect(await thread.ask(order(taxed, coin))).toMatchObject(refused)
  await thread.stop()
})

test('does not compute for whoever has gone', async () => {
  const thread = startThread()
  expect(await thread.askAt(order(coin, gold), thread.clock.ms - 2_001)).toMatchObject({ code: 'OVERLOADED' })
  await thread.stop()
})
