import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bcs } from '@mysten/sui/bcs'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { fromBase64 } from '@mysten/sui/utils'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { cetusPackage, createSuiMarket, dexFunctions } from '../../../../sandbox/src/sui/market.ts'
import { type SuiNode, startSuiNode } from '../../../../sandbox/src/sui/sui-node.ts'
import { type Json, type Scenario, startScenario } from '../../../../test/support/scenario.ts'
import type { ChainsFile } from '../../../src/app/sandbox-chains.ts'
import { startNodeProxy } from '../../adapters/sui/node-proxy.ts'

/*
 * Swaps on a node of Sui in this process, at two addresses, whose epochs and execution the test controls. The operator lists one of the two Cetus pools of
 * SUI and USDC, that with a fee of 0.25 %. A server in the form of Cetus' route finder knows the other one, with 0.05 %.
 */

const SUI = '0x2::sui::SUI'
const suiInFull = `0x${'2'.padStart(64, '0')}::sui::SUI`
const usdc = suiTokens[0]?.type ?? ''
const network = 'sui'
const trade = { fromTokenAddress: SUI, toTokenAddress: usdc, amount: '100', slippage: '1', referrerFee: '0' }
/** 100 SUI at 1.92 and USDC at 0.9999 dollars, less 0.05 %, are 191.923 USDC; the price moves by a little. */
const quoted = 191_900_000n
const AGGREGATOR_BUDGET_MS = 3_000

let folder: string
let node: SuiNode
let second: Awaited<ReturnType<typeof startNodeProxy>>
let aggregator: Server
/** The route that the aggregator knows; null for none. */
let route: Readonly<{ pool: string; amountOut: bigint }> | null = null
let asked: URLSearchParams[] = []
let pools: Readonly<{ listed: string; other: string }>
let scenario: Scenario

function answerOf(query: URLSearchParams): object {
  if (route === null) return { code: 5000, msg: 'Insufficient liquidity', data: null }
  const [amount_in, amount_out] = [Number(query.get('amount')), Number(route.amountOut)]
  const path = {
    ...{ id: route.pool, direction: true, provider: 'CETUS', from: suiInFull, target: usdc, fee_rate: '0.0005' },
    ...{ amount_in, amount_out, published_at: cetusPackage, extended_details: null },
  }
  return {
    ...{ code: 200, msg: 'success' },
    data: { request_id: 'a', amount_in, amount_out, deviation_ratio: '0', packages: {}, paths: [path] },
  }
}

function listMarket(market: ReturnType<typeof createSuiMarket>): ChainsFile {
  const dexes = [
    {
      ...({ name: 'cetus', kind: 'cetus', factory: cetusPackage, config: market.cetusConfig } as const),
      pools: [pools.listed],
    },
  ]
  const defiTokens = suiTokens.map(({ type, symbol, name, decimals }) => ({ address: type, symbol, name, decimals }))
  const sui = { network, family: 'sui', client: 'simulated Sui node', rpcUrls: [node.url, second.url], tokens: {} }
  const listed = { wrapped: SUI, coinIsToken: false, hubs: [usdc], dexes, contracts: {}, defiTokens }
  // No sandbox: the test controls the node itself.
  return { controlUrl: 'http://127.0.0.1:9', pid: process.pid, networks: [{ ...sui, ...listed }] }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swapyard-sui-'))
  node = await startSuiNode({ functions: dexFunctions, notify: () => undefined })
  second = await startNodeProxy(node.url)
  const market = createSuiMarket(node)
  const [listed, other] = market.pools.filter(({ coins }) => coins.map(({ ticker }) => ticker).join() === 'sui,usdc')
  expect([listed?.feeRate, other?.feeRate]).toEqual([2_500, 500])
  pools = { listed: listed?.id ?? '', other: other?.id ?? '' }
  aggregator = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    asked.push(searchParams)
    reply.writeHead(pathname === '/find_routes' ? 200 : 404).end(JSON.stringify(answerOf(searchParams)))
  })
  await new Promise<void>((done) => aggregator.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(aggregator.address() as AddressInfo).port}`
  const contracts = new Map([[network, [cetusPackage]]])
  const chainsFile = join(folder, 'chains.json')
  writeFileSync(chainsFile, JSON.stringify(listMarket(market)))
  scenario = await startScenario({
    ...{ networks: [network], chainsFile, swaps: { feeAddresses: new Map([[network, `0x${'fe'.repeat(32)}`]]) } },
    aggregators: { asked: [{ id: 'cetus', key: null, url, contracts }], budgetMs: AGGREGATOR_BUDGET_MS },
  })
  await scenario.until('the pools are read', async () => (await quote()).status === 200)
})
beforeEach(() => {
  route = null
  asked = []
})
afterAll(async () => {
  await scenario?.stop()
  second?.stop()
  await node?.stop()
  aggregator?.closeAllConnections()
  await new Promise((done) => aggregator?.close(done))
  await rm(folder, { recursive: true, force: true })
})

const quote = () => scenario.call('GET', `/v1/defi/quote?${new URLSearchParams({ network, ...trade })}`)

async function createUser() {
  const keypair = Ed25519Keypair.generate()
  const address = keypair.toSuiAddress()
  node.mint(address, 200_000_000_000n)
  const built = await scenario.call('POST', '/v1/defi/transaction/swap', { network, account: address, ...trade })
  expect(built).toMatchObject({ status: 201, body: [expect.any(String)] })
  const bytes = fromBase64(built.body[0])
  return { address, bytes, rawTx: JSON.stringify(await keypair.signTransaction(bytes)) }
}

async function send({ address: account, rawTx }: Readonly<{ address: string; rawTx: string }>): Promise<string> {
  const { fromTokenAddress, toTokenAddress, amount: amountFrom } = trade
  const sides = { account, network, fromTokenAddress, toTokenAddress, amountFrom, amountTo: '191' }
  const sent = await scenario.call('POST', '/v1/defi/send/swap', { ...sides, commissionPercentage: '0', rawTx })
  expect(sent).toMatchObject({ status: 201 })
  return JSON.parse(sent.body)
}

const becomes = (hash: string, status: string): Promise<Json> =>
  scenario.until(`${hash} is ${status}`, async () => {
    const { body } = await scenario.call('GET', `/v1/defi/exchange/status?hash=${hash}`)
    return body.status === status && body
  })

/** The shared objects that a transaction may change. */
const poolsIn = (bytes: Uint8Array): readonly string[] =>
  (bcs.TransactionData.parse(bytes).V1?.kind.ProgrammableTransaction?.inputs ?? []).flatMap((input) =>
    input.Object?.SharedObject?.mutable === true ? [input.Object.SharedObject.objectId] : [],
  )

test('a route of Cetus that pays more than ours is quoted, built by us, signed, sent and finished', async () => {
  const own = await quote()
  expect(own.body.routes[0].subRoutes[0].dexes).toMatchObject([{ address: pools.listed, fee: 0.25 }])
  route = { pool: pools.other, amountOut: quoted }
  const { body } = await quote()
  expect(BigInt(body.toAmountRaw)).toBe(quoted)
  expect(quoted).toBeGreaterThan(BigInt(own.body.toAmountRaw))
  expect(body.routes).toMatchObject([{ subRoutes: [{ from: SUI, to: usdc, dexes: [{ name: 'cetus', fee: 0 }] }] }])
  expect(Object.fromEntries(asked.at(-1) ?? [])).toMatchObject({
    ...{ from: suiInFull, target: usdc, amount: '100000000000', by_amount_in: 'true', providers: 'CETUS' },
  })
  const user = await createUser()
  expect(poolsIn(user.bytes)).toEqual([pools.other])
  const row = await becomes(await send(user), 'finished')
  const received = node.readBalance(user.address, usdc)
  expect(received).toBeGreaterThanOrEqual(quoted)
  expect(received).toBeLessThan(191_923_000n)
  expect(Number(row.amountTo) * 1e6).toBeCloseTo(Number(received), 5)
})

test('B135: an amount that no transaction can state is refused', async () => {
  const order = { network, ...trade, amount: '18446744073.709551616' }
  const account = `0x${'a1'.repeat(32)}`
  for (const answer of [
    await scenario.call('GET', `/v1/defi/quote?${new URLSearchParams(order)}`),
    await scenario.call('POST', '/v1/defi/transaction/swap', { account, ...order }),
  ])
    expect(answer).toMatchObject({ status: 422, body: { code: 'AMOUNT_ABOVE_MAX', errors: [{ field: 'amount' }] } })
})

test('a route of Cetus that pays less than ours is not used', async () => {
  route = { pool: pools.other, amountOut: 191_000_000n }
  const { body } = await quote()
  expect(body.routes[0].subRoutes[0].dexes).toMatchObject([{ address: pools.listed }])
  expect(poolsIn((await createUser()).bytes)).toEqual([pools.listed])
})

test('a node that is down prevents no swap; it is finished when the node answers again', async () => {
  second.hooks.isDown = true
  try {
    const user = await createUser()
    const hash = await send(user)
    expect(node.readBalance(user.address, usdc)).toBeGreaterThan(191_000_000n)
    second.hooks.isDown = false
    await becomes(hash, 'finished')
  } finally {
    second.hooks.isDown = false
  }
})

test('a swap that no node executed before its epoch ended has failed, as expired', async () => {
  const user = await createUser()
  node.pauseExecution(true)
  try {
    const hash = await send(user)
    await becomes(hash, 'pending')
    node.endEpoch()
    node.pauseExecution(false)
    expect(await becomes(hash, 'failed')).toMatchObject({ statusReason: 'expired' })
  } finally {
    node.pauseExecution(false)
  }
  expect([usdc, SUI].map((coin) => node.readBalance(user.address, coin))).toEqual([0n, 200_000_000_000n])
  // At the door, too: a build of the former epoch is not sent.
  const late = await createUser()
  node.endEpoch()
  node.addCheckpoints(1)
  const { fromTokenAddress, toTokenAddress, amount: amountFrom } = trade
  const sides = { account: late.address, network, fromTokenAddress, toTokenAddress, amountFrom, amountTo: '191' }
  const body = { ...sides, commissionPercentage: '0', rawTx: late.rawTx }
  expect(await scenario.call('POST', '/v1/defi/send/swap', body)).toMatchObject({
    ...{ status: 400, body: { code: 'RAW_TX_INVALID', message: expect.stringContaining('expired') } },
  })
})
