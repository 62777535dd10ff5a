import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { MarketPool } from '../../../../sandbox/src/solana/dexes/market-pool.ts'
import { raydiumCpmm } from '../../../../sandbox/src/solana/dexes/raydium-cpmm.ts'
import { listedMarket, marketPools, wrappedSol } from '../../../../sandbox/src/solana/solana-market.ts'
import { startSolanaNode } from '../../../../sandbox/src/solana/solana-node.ts'
import {
  ataOf,
  createSolanaUser,
  type Instruction,
  type SolanaUser,
} from '../../../../sandbox/src/solana/solana-user.fixture.ts'
import { type Json, type Scenario, startScenario } from '../../../../test/support/scenario.ts'
import type { ChainsFile } from '../../../src/app/sandbox-chains.ts'
import { present } from '../../../src/lib/assert.ts'

/*
 * Swaps on a node of Solana in this process. The operator lists the pools of Raydium AMM v4 alone. A server in the documented form of
 * Jupiter's Swap API v2 knows the deepest pool of Raydium CPMM. Jupiter's program is in no package: its published program is configured
 * to be that of Raydium CPMM, whose instruction the node executes.
 */

const network = 'sol'
const [usdc] = listedMarket.hubs
const amountIn = 100_000_000_000n
const trade = { fromTokenAddress: wrappedSol, toTokenAddress: usdc, amount: '100', slippage: '1', referrerFee: '0' }
const AGGREGATOR_BUDGET_MS = 3_000
const BLOCK_MS = 200
/** Role of an account in an instruction of @solana/kit: the first bit says writable, the second signer. */
const [WRITABLE, SIGNER] = [1, 2]

type Node = Awaited<ReturnType<typeof startSolanaNode>>
type Mood = 'silent' | 'generous' | 'mean'

let folder: string
let node: Node
let miner: NodeJS.Timeout
let jupiter: Server
/** What Jupiter answers: nothing; the pool's price; a twentieth less than that. */
let mood: Mood = 'silent'
let asked: URLSearchParams[] = []
let scenario: Scenario

const pool: MarketPool = present(
  marketPools.find(
    ({ program, tickers }) => program === raydiumCpmm && tickers.includes('sol') && tickers.includes('usdc'),
  ),
  'the deepest pool of SOL and USDC',
)
const inputIndex = pool.tickers[0] === 'sol' ? 0 : 1

const heldBy = async (account: string): Promise<bigint> => {
  const { value } = (await callOnce(node.rpcUrl, 'getTokenAccountBalance', [account])) as { value: { amount: string } }
  return BigInt(value.amount)
}

/** x · y = k with a fee of 0.25 % on the input, rounded up. */
async function outputOf(units: bigint): Promise<bigint> {
  const [reserveIn, reserveOut] = await Promise.all(
    [inputIndex, 1 - inputIndex].map((n) => heldBy(pool.vaults[n] ?? '')),
  )
  const net = units - (units * 2_500n + 999_999n) / 1_000_000n
  return (net * (reserveOut ?? 0n)) / ((reserveIn ?? 0n) + net)
}

async function swapOf(taker: string, units: bigint): Promise<Instruction> {
  const [source, target] = await Promise.all(
    [inputIndex, 1 - inputIndex].map((n) => ataOf(present(pool.mints[n], 'a mint'), taker)),
  )
  const accounts = { source: present(source, 'an account'), target: present(target, 'an account') }
  return pool.swap((address) => node.bank.readAccount(address), {
    owner: taker as never,
    ...accounts,
    inputIndex,
    units,
  })
}

/** As the documentation of `/build` writes it. */
async function answerOf(query: URLSearchParams): Promise<Json> {
  const units = BigInt(query.get('amount') ?? 0)
  const paid = await outputOf(units)
  const outAmount = (mood === 'mean' ? (paid * 19n) / 20n : paid).toString()
  const { programAddress, accounts = [], data } = await swapOf(query.get('taker') ?? '', units)
  return {
    ...{ inputMint: query.get('inputMint'), outputMint: query.get('outputMint'), inAmount: units.toString() },
    ...{ outAmount, otherAmountThreshold: outAmount, swapMode: 'ExactIn', slippageBps: 50, priceImpactPct: '0' },
    ...{ routePlan: [], computeBudgetInstructions: [], setupInstructions: [], cleanupInstruction: null },
    ...{ otherInstructions: [], tipInstruction: null, addressesByLookupTableAddress: null },
    blockhashWithMetadata: { blockhash: [], lastValidBlockHeight: 1 },
    swapInstruction: {
      programId: programAddress,
      accounts: accounts.map(({ address: pubkey, role }) => ({
        ...{ pubkey, isSigner: (role & SIGNER) > 0, isWritable: (role & WRITABLE) > 0 },
      })),
      data: Buffer.from(data ?? []).toString('base64'),
    },
  }
}

function listMarket(): ChainsFile {
  const dexes = listedMarket.dexes.filter(({ kind }) => kind === 'raydium-amm-v4')
  const sol = { network, family: 'solana', client: 'litesvm', rpcUrls: [node.rpcUrl], tokens: {} } as const
  // No sandbox: the test controls the node itself.
  return { controlUrl: 'http://127.0.0.1:9', pid: process.pid, networks: [{ ...sol, ...listedMarket, dexes }] }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swapyard-solana-'))
  node = await startSolanaNode({ port: 0, log: () => undefined, deploysMarket: true })
  node.mine(40)
  miner = setInterval(() => node.mine(1), BLOCK_MS)
  jupiter = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    asked.push(searchParams)
    if (mood === 'silent' || request.headers['x-api-key'] !== 'a key' || pathname !== '/build')
      reply.writeHead(404).end('{}')
    else void answerOf(searchParams).then((answer) => reply.end(JSON.stringify(answer)))
  })
  await new Promise<void>((done) => jupiter.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(jupiter.address() as AddressInfo).port}`
  const contracts = new Map([[network, [raydiumCpmm.address]]])
  const chainsFile = join(folder, 'chains.json')
  writeFileSync(chainsFile, JSON.stringify(listMarket()))
  scenario = await startScenario({
    ...{ networks: [network], chainsFile, swaps: { feeAddresses: new Map([[network, node.bankAddress]]) } },
    aggregators: { asked: [{ id: 'jupiter', key: 'a key', url, contracts }], budgetMs: AGGREGATOR_BUDGET_MS },
  })
  await scenario.until('the pools are read', async () => (await quote()).status === 200)
})
beforeEach(() => {
  mood = 'silent'
  asked = []
})
afterAll(async () => {
  await scenario?.stop()
  clearInterval(miner)
  await node?.stop()
  jupiter?.closeAllConnections()
  await new Promise((done) => jupiter?.close(done))
  await rm(folder, { recursive: true, force: true })
})

const quote = () => scenario.call('GET', `/v1/defi/quote?${new URLSearchParams({ network, ...trade })}`)
const dexesOf = (body: Json): readonly string[] =>
  body.routes.flatMap(({ subRoutes }: Json) =>
    subRoutes.flatMap(({ dexes }: Json) => dexes.map(({ name }: Json) => name)),
  )

async function build(user: SolanaUser): Promise<string> {
  await node.deposit(user.address, 2n * amountIn)
  await scenario.until('the user has SOL', async () => {
    const { value } = (await callOnce(node.rpcUrl, 'getBalance', [user.address])) as { value: number }
    return value > 0
  })
  const built = await scenario.call('POST', '/v1/defi/transaction/swap', { network, account: user.address, ...trade })
  expect(built).toMatchObject({ status: 201, body: [expect.any(String)] })
  return built.body[0]
}

async function send(user: SolanaUser, unsigned: string): Promise<string> {
  const { fromTokenAddress, toTokenAddress, amount: amountFrom } = trade
  const sides = { account: user.address, network, fromTokenAddress, toTokenAddress, amountFrom, amountTo: '1' }
  const rawTx = await user.sign(unsigned)
  const sent = await scenario.call('POST', '/v1/defi/send/swap', { ...sides, commissionPercentage: '0', rawTx })
  expect(sent).toMatchObject({ status: 201 })
  return JSON.parse(sent.body)
}

const finished = (hash: string): Promise<Json> =>
  scenario.until(`${hash} is finished`, async () => {
    const { body } = await scenario.call('GET', `/v1/defi/exchange/status?hash=${hash}`)
    expect(body.status).not.toBe('failed')
    return body.status === 'finished' && body
  })

test('a route of Jupiter that pays more than ours is quoted, built by us, signed, sent and finished', async () => {
  const own = await quote()
  expect(dexesOf(own.body)).toEqual(['raydium-amm-v4'])
  mood = 'generous'
  const paid = await outputOf(amountIn)
  const { body } = await quote()
  expect(BigInt(body.toAmountRaw)).toBe(paid)
  expect(paid).toBeGreaterThan(BigInt(own.body.toAmountRaw))
  expect(dexesOf(body)).toEqual(['jupiter'])
  expect(Object.fromEntries(asked.at(-1) ?? [])).toMatchObject({
    ...{ inputMint: wrappedSol, outputMint: usdc, amount: amountIn.toString(), wrapAndUnwrapSol: 'false' },
  })
  const user = await createSolanaUser()
  const row = await finished(await send(user, await build(user)))
  expect(asked.at(-1)?.get('taker')).toBe(user.address)
  const target = present(pool.mints[1 - inputIndex], 'the mint of USDC')
  expect(await heldBy(await ataOf(target, user.address))).toBe(paid)
  expect(Number(row.amountTo) * 1e6).toBeCloseTo(Number(paid), 0)
})

test('a route of Jupiter that pays less than ours is not used', async () => {
  mood = 'mean'
  const { body } = await quote()
  expect(asked.length).toBeGreaterThan(0)
  expect(dexesOf(body)).toEqual(['raydium-amm-v4'])
})

test('without an answer of Jupiter our route is quoted, built and finished', async () => {
  const { body } = await quote()
  expect(asked.length).toBeGreaterThan(0)
  expect(dexesOf(body)).toEqual(['raydium-amm-v4'])
  const user = await createSolanaUser()
  const row = await finished(await send(user, await build(user)))
  expect(Number(row.amountTo) * 1e6).toBeGreaterThan(Number(body.toAmountRaw) * 0.98)
})
