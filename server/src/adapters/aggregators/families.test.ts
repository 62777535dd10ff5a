import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHttp, type Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { createAskAggregators } from '../../swap/quotes/ask-aggregators.ts'
import { createCetus } from './cetus.ts'
import { createJupiter } from './jupiter.ts'

/* A server that answers as the documentation of Jupiter (dev.jup.ag) and the client of Cetus describe. */

const SOL = 'So11111111111111111111111111111111111111112'
const usdcOnSol = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SUI = '0x2::sui::SUI'
const suiInFull = `0x${'2'.padStart(64, '0')}::sui::SUI`
const usdcOnSui = '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC'
const user = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'
const pool = `0x${'ab'.repeat(32)}`

const swapInstruction = {
  programId: 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4',
  accounts: [
    { pubkey: user, isWritable: false, isSigner: true },
    { pubkey: usdcOnSol, isWritable: true, isSigner: false },
  ],
  data: 'AQID',
}
const jupiterAnswer = {
  ...{ inputMint: SOL, outputMint: usdcOnSol, inAmount: '1000000000', outAmount: '150000000' },
  ...{ otherAmountThreshold: '149250000', swapMode: 'ExactIn', slippageBps: 50, priceImpactPct: '0.0001' },
  routePlan: [
    {
      ...{ percent: 100, bps: 10_000 },
      swapInfo: {
        ...{ ammKey: user, label: 'Raydium', inputMint: SOL, outputMint: usdcOnSol },
        ...{ inAmount: '1000000000', outAmount: '150000000' },
      },
    },
  ],
  ...{ computeBudgetInstructions: [], setupInstructions: [], swapInstruction, cleanupInstruction: null },
  ...{ otherInstructions: [], tipInstruction: null },
  addressesByLookupTableAddress: { [user]: [usdcOnSol] },
  blockhashWithMetadata: { blockhash: [1], lastValidBlockHeight: 7 },
}
const cetusAnswer = {
  ...{ code: 200, msg: 'success' },
  data: {
    ...{ request_id: 'a', amount_in: 1_000_000_000, amount_out: 3_500_000, deviation_ratio: '0', packages: {} },
    paths: [
      {
        ...{ id: pool, direction: true, provider: 'CETUS', from: suiInFull, target: usdcOnSui, fee_rate: '0.0025' },
        ...{ amount_in: 1_000_000_000, amount_out: 3_500_000, published_at: pool, extended_details: null },
      },
    ],
  },
}

let server: Server
let http: Http
let asked: { url: URL; headers: IncomingMessage['headers'] }[]
let answers: Record<string, unknown>
let jupiter: Aggregator
let cetus: Aggregator

beforeAll(async () => {
  http = createHttp()
  server = createServer((request, reply) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    asked.push({ url, headers: request.headers })
    const body = answers[url.pathname]
    if (body === 'never') return
    reply.writeHead(body === undefined ? 404 : 200).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  jupiter = createJupiter({ http, key: 'a key', url })
  cetus = createCetus({ http, key: null, url })
})
beforeEach(() => {
  asked = []
  answers = { '/build': jupiterAnswer, '/find_routes': cetusAnswer }
})
afterAll(async () => {
  await http.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const orders: Readonly<Record<'sol' | 'sui', AggregatorOrder>> = {
  sol: { network: 'sol', chainId: null, native: SOL, tokenIn: SOL, tokenOut: usdcOnSol, amountIn: 1_000_000_000n },
  sui: { network: 'sui', chainId: null, native: SUI, tokenIn: SUI, tokenOut: usdcOnSui, amountIn: 1_000_000_000n },
}
const of = (network: 'sol' | 'sui') => (network === 'sol' ? jupiter : cetus)
const takerOrder = { ...orders.sol, taker: user, slippagePpm: 5_001 }

test('Jupiter is asked with the key, and no fee of ours', async () => {
  expect(await jupiter.quote(orders.sol, 5_000)).toEqual({ amountOut: 150_000_000n, gas: null })
  expect(asked[0]?.headers).toMatchObject({ 'x-api-key': 'a key' })
  const query = Object.fromEntries(asked[0]?.url.searchParams ?? [])
  expect(query).toMatchObject({
    inputMint: SOL,
    outputMint: usdcOnSol,
    amount: '1000000000',
    wrapAndUnwrapSol: 'false',
  })
  expect(Object.keys(query)).not.toContain('platformFeeBps')
})

test('Jupiter returns the instructions for the user, and its tables', async () => {
  expect(await jupiter.build(takerOrder, 5_000)).toEqual({
    ...{ amountOut: 150_000_000n, setup: [], tables: [user] },
    swap: {
      program: swapInstruction.programId,
      accounts: [
        { address: user, isSigner: true, isWritable: false },
        { address: usdcOnSol, isSigner: false, isWritable: true },
      ],
      data: 'AQID',
    },
  })
  // Half a percent is rounded up to whole basis points.
  expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toMatchObject({ taker: user, slippageBps: '51' })
})

test('Cetus is asked for its own pools, by coin types in full', async () => {
  expect(await cetus.quote(orders.sui, 5_000)).toEqual({ amountOut: 3_500_000n, gas: null })
  expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toMatchObject({
    ...{ from: suiInFull, target: usdcOnSui, amount: '1000000000', by_amount_in: 'true', providers: 'CETUS' },
  })
  expect(await cetus.build({ ...orders.sui, taker: pool, slippagePpm: 1 }, 5_000)).toEqual({
    amountOut: 3_500_000n,
    steps: [{ dex: 'cetus', pool, from: suiInFull, to: usdcOnSui, amountIn: 1_000_000_000n }],
  })
})

const changed = (answer: typeof cetusAnswer, data: object) => ({ ...answer, data: { ...answer.data, ...data } })
const wrong: readonly (readonly [string, 'sol' | 'sui', unknown])[] = [
  ['another input', 'sol', { ...jupiterAnswer, inputMint: usdcOnSol }],
  ['another output', 'sol', { ...jupiterAnswer, outputMint: SOL }],
  ['another amount', 'sol', { ...jupiterAnswer, inAmount: '1000000001' }],
  ['a number as amount', 'sol', { ...jupiterAnswer, outAmount: 150_000_000 }],
  ['nothing', 'sol', { ...jupiterAnswer, outAmount: '0' }],
  ['an error', 'sol', { error: 'no routes found' }],
  ['no JSON', 'sol', '<html>'],
  ['another amount', 'sui', changed(cetusAnswer, { amount_in: 2 })],
  ['an amount that is not exact', 'sui', changed(cetusAnswer, { amount_out: 2 ** 60 })],
  [
    'a pool of another DEX',
    'sui',
    changed(cetusAnswer, { paths: [{ ...cetusAnswer.data.paths[0], provider: 'OBRIC' }] }),
  ],
  ['no path', 'sui', changed(cetusAnswer, { paths: [] })],
  ['a path without a pool', 'sui', changed(cetusAnswer, { paths: [{ ...cetusAnswer.data.paths[0], id: 7 }] })],
  ['an error', 'sui', { code: 5000, msg: 'Insufficient liquidity', data: null }],
  ['no JSON', 'sui', '<html>'],
]
describe('there is no quote', () => {
  test.for(wrong)('if the answer is %s, on %s', async ([, network, answer]) => {
    answers = { '/build': answer, '/find_routes': answer }
    expect(await of(network).quote(orders[network], 5_000)).toBeNull()
    expect(await of(network).build({ ...orders[network], taker: user, slippagePpm: 1 }, 5_000)).toBeNull()
  })

  test.for(['sol', 'sui'] as const)('if there is no answer within the budget, on %s', async (network) => {
    answers = { '/build': 'never', '/find_routes': 'never' }
    const ask = createAskAggregators({ aggregators: [of(network)], budgetMs: 50 })
    expect(await ask(orders[network])).toEqual([])
  })

  test('from an aggregator of another network', async () => {
    const ask = createAskAggregators({ aggregators: [jupiter, cetus], budgetMs: 30_000 })
    expect((await ask(orders.sol)).map(({ source }) => source)).toEqual(['jupiter'])
    expect((await ask(orders.sui)).map(({ source }) => source)).toEqual(['cetus'])
    expect(await ask({ ...orders.sol, network: 'eth' })).toEqual([])
  })
})
