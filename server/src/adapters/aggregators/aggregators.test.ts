import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createHttp, type Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import type { SwapChain } from '../../swap/ports/swap-chain.ts'
import { createAskAggregators, createBuildAggregatorCall } from '../../swap/quotes/ask-aggregators.ts'
import { nativeAddress } from '../chains/evm/native-coin.ts'
import { readAggregatorCall as readCall } from '../swap-chain/read-aggregator-call.ts'
import { createKyberSwap } from './kyber-swap.ts'
import { createOpenOcean } from './open-ocean.ts'
import { createZeroX } from './zero-x.ts'

/* A server that answers as the documentation of the three aggregators describes. */

const weth = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const usdc = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const order: AggregatorOrder = {
  ...{ network: 'eth', chainId: 1, native: nativeAddress, tokenIn: weth, tokenOut: usdc, amountIn: 10n ** 18n },
}
const oneEther = '1000000000000000000'
const taker = '0x00000000000000000000000000000000000000aa'
/** How a chain of this family checks a call. */
const evm: Pick<SwapChain, 'readAggregatorCall'> = {
  readAggregatorCall: async (transaction, taken, contracts) => readCall(transaction, taken, contracts),
}
const takerOrder = { ...order, taker, slippagePpm: 5_000 }
const holder = '0x0000000000001ff3684f28c67538d4d072c22734'
const exchange = '0x6352a56caadc4f1e25cd6c75970fa768a3304e64'
const metaRouter = '0x6131b5fae19ea4f9d964eac0408e4408b66337b5'
const calldata = '0x12345678aabb'
/** Checksummed, as in replies. */
const usdcChecksummed = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'

const zeroXAnswer = {
  blockNumber: '23000000',
  buyAmount: '3201000000',
  buyToken: usdc,
  sellAmount: oneEther,
  sellToken: weth,
  minBuyAmount: '3168990000',
  liquidityAvailable: true,
  issues: { allowance: null, balance: null, simulationIncomplete: false, invalidSourcesPassed: [] },
  fees: { integratorFee: null, zeroExFee: null, gasFee: null },
  totalNetworkFee: '1200000000000000',
  gas: '258441',
  zid: '0x111111111111111111111111',
}
const openOceanAnswer = {
  code: 200,
  data: {
    inToken: { symbol: 'WETH', name: 'Wrapped Ether', address: weth, decimals: 18 },
    outToken: { symbol: 'USDC', name: 'USD Coin', address: usdcChecksummed, decimals: 6 },
    inAmount: oneEther,
    outAmount: '3202000000',
    estimatedGas: '189669',
    price_impact: '-0.01%',
  },
}
const kyberAnswer = {
  code: 0,
  message: 'successfully',
  data: {
    routeSummary: {
      tokenIn: weth,
      amountIn: oneEther,
      amountInUsd: '3200.1',
      tokenOut: usdcChecksummed,
      amountOut: '3203000000',
      amountOutUsd: '3203',
      gas: '189000',
      gasPrice: '1000000000',
      gasUsd: '0.6',
      extraFee: { feeAmount: '0', chargeFeeBy: '', isInBps: false, feeReceiver: '' },
      route: [[]],
    },
    routerAddress: '0x6131B5fae19EA4f9D964eAc0408E4408b66337b5',
  },
  requestId: 'a',
}

const zeroXQuote = {
  ...zeroXAnswer,
  issues: { ...zeroXAnswer.issues, allowance: { actual: '0', spender: '0x0000000000001fF3684f28c67538d4D072C22734' } },
  transaction: {
    to: '0x0000000000001fF3684f28c67538d4D072C22734',
    ...{ data: calldata, gas: '258441', gasPrice: '1', value: '0' },
  },
}
const openOceanSwap = {
  ...openOceanAnswer,
  data: {
    ...openOceanAnswer.data,
    ...{ from: taker, to: '0x6352a56caadC4F1E25CD6c75970Fa768A3304e64', value: '0', data: calldata, chainId: 1 },
  },
}
const kyberBuilt = {
  code: 0,
  message: 'successfully',
  data: {
    ...{ amountIn: oneEther, amountOut: '3203000000', gas: '189000', data: calldata, transactionValue: '0' },
    routerAddress: '0x6131B5fae19EA4f9D964eAc0408E4408b66337b5',
  },
}

let server: Server
let http: Http
let url: string
let requests: { path: string; query: URLSearchParams; headers: IncomingMessage['headers']; body: Promise<string> }[] =
  []
let answer: (request: IncomingMessage, reply: ServerResponse) => void
const answerAsDocumented = (request: IncomingMessage, reply: ServerResponse): void => {
  const { pathname } = new URL(request.url ?? '', url)
  const bodies: Record<string, object> = {
    '/swap/allowance-holder/price': zeroXAnswer,
    '/v4/eth/quote': openOceanAnswer,
    '/ethereum/api/v1/routes': kyberAnswer,
    '/swap/allowance-holder/quote': zeroXQuote,
    '/v4/eth/swap': openOceanSwap,
    '/ethereum/api/v1/route/build': kyberBuilt,
  }
  const body = bodies[pathname]
  reply.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
}
let all: readonly Aggregator[]

beforeAll(async () => {
  http = createHttp()
  server = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    requests.push({ path: pathname, query: searchParams, headers: request.headers, body: text(request) })
    answer(request, reply)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = answerAsDocumented
  all = [
    createZeroX({ http, key: 'a key', url }),
    createOpenOcean({ http, key: null, url }),
    createKyberSwap({ http, client: 'swapyard', url }),
  ]
})
afterEach(() => {
  requests = []
  answer = answerAsDocumented
})
afterAll(async () => {
  await http.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

describe('an aggregator', () => {
  test.for([
    ['0x', 3_201_000_000n, 'sellAmount', 258_441],
    ['openocean', 3_202_000_000n, 'amountDecimals', 189_669],
    ['kyberswap', 3_203_000_000n, 'amountIn', 189_000],
  ] as const)('%s quotes an output', async ([id, amountOut, amountName, gas]) => {
    const aggregator = all.find((one) => one.id === id)
    expect(await aggregator?.quote(order, 2_000)).toEqual({ amountOut, gas })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.query.get(amountName)).toBe(oneEther)
  })

  test('0x receives key, version and chain id', async () => {
    await all[0]?.quote(order, 2_000)
    expect(requests[0]?.headers).toMatchObject({ '0x-api-key': 'a key', '0x-version': 'v2' })
    expect(requests[0]?.query.get('chainId')).toBe('1')
  })

  test.for([
    ['no JSON', (reply: ServerResponse) => reply.end('<html>')],
    ['an error', (reply: ServerResponse) => reply.writeHead(500).end('{}')],
    ['a redirect', (reply: ServerResponse) => reply.writeHead(302, { location: '/elsewhere' }).end()],
    ['nothing in it', (reply: ServerResponse) => reply.end('{"code":200,"data":null}')],
    ['too much', (reply: ServerResponse) => reply.end(JSON.stringify({ ...zeroXAnswer, junk: 'x'.repeat(600_000) }))],
    ['a number', (reply: ServerResponse) => reply.end('7')],
    ['nothing at all', (reply: ServerResponse) => reply.destroy()],
  ] as const)('has no quote if it answers %s', async ([, respond]) => {
    answer = (_request, reply) => void respond(reply)
    for (const aggregator of all) expect(await aggregator.quote(order, 2_000)).toBeNull()
  })

  test('has no quote if it answers another request', async () => {
    const other = { ...order, amountIn: 2n * 10n ** 18n }
    for (const aggregator of all) expect(await aggregator.quote(other, 2_000)).toBeNull()
    const elsewhere = { ...order, tokenOut: weth }
    for (const aggregator of all) expect(await aggregator.quote(elsewhere, 2_000)).toBeNull()
  })

  test.for(['1e9', '-1', '0', 3_201_000_000, null, '0x10', '1'.repeat(79)])('has no quote of %o', async (buyAmount) => {
    answer = (_request, reply) => void reply.end(JSON.stringify({ ...zeroXAnswer, buyAmount }))
    expect(await all[0]?.quote(order, 2_000)).toBeNull()
  })
})

describe('a transaction', () => {
  test.for([
    ['0x', 3_201_000_000n, holder, { taker, slippageBps: '50' }],
    ['openocean', 3_202_000_000n, exchange, { account: taker, slippage: '0.5' }],
    ['kyberswap', 3_203_000_000n, metaRouter, {}],
  ] as const)(
    'of %s is built for our executor, with its published contracts',
    async ([id, amountOut, contract, query]) => {
      const ask = createBuildAggregatorCall({ aggregators: all, budgetMs: 2_000 })
      const call = { target: contract, spender: contract, calldata }
      expect(await ask(id, takerOrder, evm)).toEqual({ amountOut, call })
      const last = requests.at(-1)
      expect(Object.fromEntries(last?.query ?? [])).toMatchObject(query)
      if (id !== 'kyberswap') return
      expect(JSON.parse((await last?.body) ?? '')).toEqual({
        ...{ routeSummary: kyberAnswer.data.routeSummary, sender: taker, recipient: taker },
        ...{ slippageTolerance: 50, source: 'swapyard' },
      })
    },
  )

  test('is rejected if an aggregator answers nonsense, another request, or nothing', async () => {
    const ask = createBuildAggregatorCall({ aggregators: all, budgetMs: 250 })
    const wrong = [
      (reply: ServerResponse) => reply.end('<html>'),
      (reply: ServerResponse) => reply.end('{"code":200,"data":null}'),
      (reply: ServerResponse) => reply.end(JSON.stringify({ ...zeroXQuote, transaction: null })),
      () => undefined,
    ]
    for (const respond of wrong) {
      answer = (_request, reply) => void respond(reply)
      for (const { id } of all) expect(await ask(id, takerOrder, evm)).toBeNull()
    }
    answer = answerAsDocumented
    for (const { id } of all) expect(await ask(id, { ...takerOrder, amountIn: 2n }, evm)).toBeNull()
  })

  test('is rejected with a wrong target, spender, value or calldata', () => {
    const built = { amountOut: 5n, target: holder, spender: holder, value: 0n, calldata }
    const contracts = [holder]
    expect(readCall(built, order, contracts)?.call).toEqual({ target: holder, spender: holder, calldata })
    const longest = `0x${'00'.repeat(29_000)}`
    expect(readCall({ ...built, calldata: longest }, order, contracts)?.call).toMatchObject({ calldata: longest })
    const wrong = [
      { target: metaRouter },
      { spender: metaRouter },
      { spender: null },
      { value: 1n },
      { calldata: '0x' },
      { calldata: '0x123456' },
      { calldata: `${calldata}0` },
      { calldata: `0x${'00'.repeat(29_001)}` },
    ]
    for (const changes of wrong) expect(readCall({ ...built, ...changes }, order, contracts)).toBeNull()
    expect(readCall(built, order, [])).toBeNull()
    const nativeOrder = { ...order, tokenIn: nativeAddress }
    expect(readCall(built, nativeOrder, contracts)).toBeNull()
    expect(readCall({ ...built, value: order.amountIn, spender: null }, nativeOrder, contracts)?.call).toEqual({
      ...{ target: holder, spender: null, calldata },
    })
  })

  test('may use contracts that the operator configures, on their network', () => {
    const own = createZeroX({ http, key: 'a key', url, contracts: new Map([['eth', [metaRouter]]]) })
    expect([own.contracts('eth'), own.contracts('base')]).toEqual([[metaRouter], [holder]])
    expect(own.contracts('linea')).toEqual(['0x000000000000175a8b9bc6d539b3708eed92ea6c'])
  })
})

describe('all aggregators together', () => {
  test('are sorted best first', async () => {
    const ask = createAskAggregators({ aggregators: all, budgetMs: 30_000 })
    expect((await ask(order)).map(({ source }) => source)).toEqual(['kyberswap', 'openocean', '0x'])
    expect(await ask({ ...order, network: 'sol' })).toEqual([])
  })

  test('are not waited for after their budget if one never answers and one fails', async () => {
    answer = (request, reply) => {
      if (request.url?.startsWith('/v4/')) return
      if (request.url?.startsWith('/ethereum/')) reply.writeHead(503).end()
      else answerAsDocumented(request, reply)
    }
    const ask = createAskAggregators({ aggregators: all, budgetMs: 2_000 })
    expect(await ask(order)).toEqual([{ source: '0x', amountOut: 3_201_000_000n, gas: 258_441, contract: holder }])
  })

  test('return nothing if adapters throw or hang', async () => {
    const fails = () => Promise.reject(new Error('broken'))
    const hangs = () => new Promise<never>(() => undefined)
    const shared = { serves: () => true, contracts: () => [holder] }
    const broken: Aggregator = { ...shared, id: 'b', quote: fails, build: fails }
    const hung: Aggregator = { ...shared, id: 'h', quote: hangs, build: hangs }
    const deps = { aggregators: [broken, hung], budgetMs: 50 }
    expect(await createAskAggregators(deps)(order)).toEqual([])
    for (const source of ['b', 'h', 'unknown'])
      expect(await createBuildAggregatorCall(deps)(source, takerOrder, evm)).toBeNull()
  })

  test('return nothing if the check of a transaction is late, which is then aborted', async () => {
    const [prompt] = all as [Aggregator]
    let late: AbortSignal | undefined
    const chain: Pick<SwapChain, 'readAggregatorCall'> = {
      readAggregatorCall: (_transaction, _order, _contracts, signal) => {
        late = signal
        return new Promise<never>(() => undefined)
      },
    }
    const build: Aggregator['build'] = async () => ({
      ...{ amountOut: 5n, target: holder, spender: holder, value: 0n, calldata },
    })
    const deps = { aggregators: [{ ...prompt, build }], budgetMs: 50 }
    expect(await createBuildAggregatorCall(deps)(prompt.id, takerOrder, chain)).toBeNull()
    expect(late?.aborted).toBe(true)
  })
})
