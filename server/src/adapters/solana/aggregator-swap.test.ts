import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base58 } from '@scure/base'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MarketPool } from '../../../../sandbox/src/solana/dexes/market-pool.ts'
import { raydiumCpmm as cpmmProgram } from '../../../../sandbox/src/solana/dexes/raydium-cpmm.ts'
import { catalogueTokens, marketPools, testTokens } from '../../../../sandbox/src/solana/solana-market.ts'
import { startSolanaNode } from '../../../../sandbox/src/solana/solana-node.ts'
import {
  ataOf,
  createLookupTable,
  createSolanaUser,
  type Instruction,
  type SolanaUser,
} from '../../../../sandbox/src/solana/solana-user.fixture.ts'
import { sol } from '../../../networks/sol.ts'
import { type FaultyNode, startFaultyNode } from '../../../test/adapters/chains/evm/faulty-node.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { present } from '../../lib/assert.ts'
import { createHttp, type Http } from '../../lib/http.ts'
import { type BuildSwapDeps, createBuildSwap } from '../../swap/build/build-swap.ts'
import { createRouteReliability } from '../../swap/build/route-reliability.ts'
import { createSwapRefs } from '../../swap/build/swap-refs.ts'
import { swapDefaults } from '../../swap/interfaces.ts'
import type { InstructionCall, TakerOrder } from '../../swap/ports/aggregator.ts'
import type { RoutedSwap } from '../../swap/ports/router.ts'
import type { PreparedSwap, SwapAction, SwapChain, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { createAggregatorReliability } from '../../swap/quotes/aggregator-reliability.ts'
import { createAskAggregators, createBuildAggregatorCall } from '../../swap/quotes/ask-aggregators.ts'
import { executeRoute, SHARE_ALL } from '../../swap/routing/execute.ts'
import { createJupiter } from '../aggregators/jupiter.ts'
import type { NetworkPoolsOptions } from '../dex/sync-context.ts'
import { createSolanaSwapChain } from './chain.ts'
import { createAssociated, syncNative, transferLamports } from './instructions.ts'
import { createSolanaPools } from './pools.ts'
import { associatedToken } from './program-address.ts'
import { decodeTransaction, encodeUnsigned } from './transaction.ts'

/*
 * Swaps by Jupiter's instructions, from a server that answers in the documented form of its Swap API v2. Jupiter's program is in no package:
 * its published program is configured to be that of Raydium CPMM, whose instruction the simulated node executes.
 */

type Node = Awaited<ReturnType<typeof startSolanaNode>>
type Json = Record<string, unknown>

const SOL = 'So11111111111111111111111111111111111111112'
const [usdc, usdt] = catalogueTokens as [(typeof catalogueTokens)[number], (typeof catalogueTokens)[number]]
const poolOf = (first: string, second: string): MarketPool =>
  present(
    marketPools.find(({ tickers }) => tickers.includes(first) && tickers.includes(second)),
    `a pool of ${first} and ${second}`,
  )
const raydiumCpmm = cpmmProgram.address
const network = resolveNetwork(sol, 'sandbox')
const ref = `0x${'7e'.repeat(32)}`
const oneSol = 1_000_000_000n

let server: Server
let http: Http
let url: string
/** Null: the server never answers. */
let answer: Json | null
let asked: URL[] = []
let node: Node
let user: SolanaUser
let chain: SwapChain

beforeAll(async () => {
  http = createHttp()
  server = createServer((request, reply) => {
    asked.push(new URL(request.url ?? '', url))
    if (answer !== null) reply.end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await http.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})
beforeEach(async () => {
  asked = []
  node = await startSolanaNode({
    ...{ port: 0, log: () => undefined, deploysMarket: true },
  })
  user = await createSolanaUser()
  await node.deposit(user.address, 100n * oneSol)
  await node.depositToken(usdc.address, user.address, 5_000_000_000n)
  node.mine(40)
  chain = createSolanaSwapChain({ network, rpcUrls: [node.rpcUrl] })
})
afterEach(() => node.stop())

const roles = ['readonly', 'writable', 'signer', 'writable signer'] as const

/** An instruction as Jupiter's documentation writes it. */
const toJson = ({ programAddress, accounts = [], data }: Instruction) => ({
  programId: programAddress,
  accounts: accounts.map(({ address, role }) => ({
    ...{ pubkey: address, isSigner: roles[role]?.includes('signer'), isWritable: roles[role]?.startsWith('writable') },
  })),
  data: Buffer.from(data ?? []).toString('base64'),
})

const reply = (order: TakerOrder, amountOut: bigint, swap: Instruction, changes: Json = {}): Json => ({
  ...{ inputMint: order.tokenIn, outputMint: order.tokenOut, inAmount: order.amountIn.toString() },
  ...{ outAmount: amountOut.toString(), otherAmountThreshold: amountOut.toString(), swapMode: 'ExactIn' },
  ...{ slippageBps: 50, priceImpactPct: '0', routePlan: [], computeBudgetInstructions: [], setupInstructions: [] },
  ...{ swapInstruction: toJson(swap), cleanupInstruction: null, otherInstructions: [], tipInstruction: null },
  ...{ addressesByLookupTableAddress: null, blockhashWithMetadata: { blockhash: [], lastValidBlockHeight: 1 } },
  ...changes,
})

const takerOrder = (tokenIn: string, tokenOut: string, amountIn: bigint): TakerOrder => ({
  ...{ network: 'sol', chainId: null, native: SOL, tokenIn, tokenOut, amountIn },
  ...{ taker: user.address, slippagePpm: 5_000 },
})

async function ask(order: TakerOrder, programs: readonly string[] = [raydiumCpmm]) {
  const jupiter = createJupiter({ http, key: 'a key', url, contracts: new Map([['sol', programs]]) })
  const transaction = await jupiter.build(order, 2_000)
  return transaction && chain.readAggregatorCall(transaction, order, jupiter.contracts('sol'))
}

const read = (method: string, address: string) => callOnce(node.rpcUrl, method, [address, { commitment: 'processed' }])
const heldBy = async (account: string): Promise<bigint> =>
  BigInt(((await read('getTokenAccountBalance', account)) as { value: { amount: string } }).value.amount)
const lamportsOf = async (account: string): Promise<bigint> =>
  BigInt(((await read('getBalance', account)) as { value: number }).value)
const own = (token: (typeof catalogueTokens)[number]) => ataOf(token, user.address)

/** Creates a token account of the user, in the setup of an answer. */
const creationOf = ({ address: mint, program }: (typeof catalogueTokens)[number], account: string) => ({
  programId: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  accounts: [user.address, account, user.address, mint, '11111111111111111111111111111111', program].map((pubkey) => ({
    ...{ pubkey, isSigner: pubkey === user.address, isWritable: true },
  })),
  data: 'AQ==',
})

/** x · y = k with a fee of 0.25 % on the input, rounded up. */
async function outputOf(pool: MarketPool, ticker: string, amountIn: bigint): Promise<bigint> {
  const index = pool.tickers[0] === ticker ? 0 : 1
  const [reserveIn, reserveOut] = [await heldBy(pool.vaults[index]), await heldBy(pool.vaults[index === 0 ? 1 : 0])]
  const net = amountIn - (amountIn * 2_500n + 999_999n) / 1_000_000n
  return (net * reserveOut) / (reserveIn + net)
}

const orderOf = (order: TakerOrder, call: InstructionCall, minReceived: bigint, changes: Partial<SwapOrder> = {}) => ({
  ...{ account: user.address, recipient: user.address, tokenIn: order.tokenIn, tokenOut: order.tokenOut },
  ...{ amountIn: order.amountIn, minReceived, feePpm: 0, feeTo: null, expiry: null, swaps: [], ref },
  ...{ aggregatorCall: call, ...changes },
})

const encode = (address: string): Uint8Array => base58.decode(address)

/** The pool's own instruction, for the user's accounts. */
async function poolSwap(pool: MarketPool, inputIndex: 0 | 1, units: bigint): Promise<Instruction> {
  const [source, target] = [pool.mints[inputIndex], pool.mints[inputIndex === 0 ? 1 : 0]]
  const accounts = { source: await ataOf(source, user.address), target: await ataOf(target, user.address) }
  return pool.swap((address) => node.bank.readAccount(address), { owner: user.address, ...accounts, inputIndex, units })
}

/** A swap of USDC to USDT by an instruction of the aggregator, with what it claims. */
async function stableSwap(changes: Json = {}, amountIn = 1_000_000_000n) {
  const pool = poolOf('usdc', 'usdt')
  const order = takerOrder(usdc.address, usdt.address, amountIn)
  const paid = await outputOf(pool, 'usdc', amountIn)
  const swap = await poolSwap(pool, pool.tickers[0] === 'usdc' ? 0 : 1, amountIn)
  answer = reply(order, paid, swap, changes)
  return { pool, order, paid, swap }
}

/** An unsigned transaction by which the user approves a delegate. */
async function prepareApproval(account: string, delegate: string): Promise<string> {
  const { programAddress: program, accounts = [], data } = user.approve(account, delegate)
  const metas = accounts.map(({ address, role }) => ({
    ...{ address, isSigner: role >= 2, isWritable: role === 1 || role === 3 },
  }))
  const instruction = { program, accounts: metas, data: new Uint8Array(data ?? []) }
  return encodeUnsigned(user.address, node.bank.blockAt('processed').hash, [instruction]).toString('base64')
}

const callOf = async (order: TakerOrder): Promise<InstructionCall> => {
  const trade = present(await ask(order), 'a checked trade')
  return trade.call as InstructionCall
}

test('asks for instructions alone, and for SOL that stays wrapped', async () => {
  const { order } = await stableSwap()
  await ask(order)
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/build'])
  expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toMatchObject({
    ...{ inputMint: usdc.address, outputMint: usdt.address, amount: '1000000000', taker: user.address },
    ...{ slippageBps: '50', wrapAndUnwrapSol: 'false' },
  })
})

test('a swap by the instruction, through a lookup table, pays the user and the fee, and is read from its bytes', async () => {
  const { pool, order, paid, swap } = await stableSwap()
  const table = await createLookupTable(
    user,
    node,
    (swap.accounts ?? []).map(({ address }) => address).filter((one) => one !== user.address),
  )
  answer = { ...answer, addressesByLookupTableAddress: { [table]: [] } }
  const partner = await createSolanaUser()
  const fee = paid / 100n
  const order_ = orderOf(order, await callOf(order), paid - fee, { feePpm: 10_000, feeTo: partner.address })
  const prepared = await chain.prepare(order_)
  expect(prepared.simulatedOut).toBe(paid - fee)
  const raw = await user.sign(prepared.swap)
  // The pool's accounts are in the table, not in the bytes.
  expect(Buffer.from(raw, 'base64').includes(Buffer.from(encode(pool.address)))).toBe(false)
  const signed = await chain.readSigned(raw)
  expect(signed.targets).toContain(pool.address)
  const { aggregatorCall: _, swaps: __, account: ___, ...terms } = order_
  expect(signed.action).toMatchObject({ kind: 'swap', ...terms, callHash: chain.hashCall(order_) })
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  node.mine(40)
  expect(await heldBy(await own(usdt))).toBe(paid - fee)
  expect(await heldBy(await ataOf(usdt, partner.address))).toBe(fee)
  expect(await heldBy(await own(usdc))).toBe(4_000_000_000n)
  // The chain tells the same of the transaction that it names by its hash.
  expect(await chain.findTransaction(signed.hash)).toEqual(signed)
  expect(await chain.observe(signed.hash)).toMatchObject({ kind: 'included', ok: true, received: paid - fee, fee })
})

test('SOL is wrapped for the instruction, and nothing but the input and the fees is spent', async () => {
  const pool = poolOf('sol', 'usdc')
  const order = takerOrder(SOL, usdc.address, oneSol)
  const paid = await outputOf(pool, 'sol', oneSol)
  answer = reply(order, paid, await poolSwap(pool, pool.tickers[0] === 'sol' ? 0 : 1, oneSol))
  const before = await lamportsOf(user.address)
  const prepared = await chain.prepare(orderOf(order, await callOf(order), paid))
  expect(prepared.simulatedOut).toBe(paid)
  await chain.broadcast(await user.sign(prepared.swap))
  node.mine(40)
  expect(await heldBy(await own(usdc))).toBe(5_000_000_000n + paid)
  // The price of a compute unit is 0 here.
  expect(before - (await lamportsOf(user.address))).toBe(oneSol + 5_000n)
})

test('SOL is unwrapped after the instruction, less the fee, which is paid in SOL', async () => {
  const pool = poolOf('sol', 'usdc')
  const order = takerOrder(usdc.address, SOL, 1_000_000_000n)
  const paid = await outputOf(pool, 'usdc', 1_000_000_000n)
  const index = pool.tickers[0] === 'usdc' ? 0 : 1
  answer = reply(order, paid, await poolSwap(pool, index, 1_000_000_000n))
  const { address: feeTo } = await createSolanaUser()
  const fee = paid / 200n
  const terms = { feePpm: 5_000, feeTo }
  const before = await lamportsOf(user.address)
  const prepared = await chain.prepare(orderOf(order, await callOf(order), paid - fee, terms))
  expect(prepared.simulatedOut).toBe(paid - fee)
  const raw = await user.sign(prepared.swap)
  expect((await chain.readSigned(raw)).action).toMatchObject(terms)
  await chain.broadcast(raw)
  node.mine(40)
  expect(await lamportsOf(user.address)).toBe(before + paid - fee - 5_000n)
  expect(await lamportsOf(feeTo)).toBe(fee)
  await expect(chain.prepare(orderOf(order, await callOf(order), paid, terms))).rejects.toMatchObject({
    code: 'SIMULATION_FAILED',
  })
})

test.for([
  ['usdc', 'usdt'],
  ['usdc', 'sol'],
] as const)('a fee of %s for %s that the user gets is not counted to the output as well', async ([from, to]) => {
  const pool = poolOf(from, to)
  const order = takerOrder(usdc.address, to === 'sol' ? SOL : usdt.address, 1_000_000_000n)
  const paid = await outputOf(pool, from, order.amountIn)
  answer = reply(order, paid, await poolSwap(pool, pool.tickers[0] === from ? 0 : 1, order.amountIn))
  const fee = paid / 100n
  const terms = { feePpm: 10_000, feeTo: user.address }
  const prepared = await chain.prepare(orderOf(order, await callOf(order), paid - fee, terms))
  expect(prepared.simulatedOut).toBe(paid - fee)
  const raw = await user.sign(prepared.swap)
  const { hash, action } = await chain.readSigned(raw)
  expect(action).toMatchObject(terms)
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  node.mine(40)
  const seen = await chain.observe(hash)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: paid - fee, fee })
  const height = seen.kind === 'included' ? seen.block.height : 0
  const { fees } = await chain.listPaidFees({ from: height, to: height, feeTo: [user.address] })
  expect(fees).toMatchObject([{ hash, units: fee }])
})

test('the transfer fee of a Token-2022 mint is withheld on both sides, and the bounds hold for what remains', async () => {
  const [levy] = testTokens as [(typeof testTokens)[number]]
  const pool = poolOf('usdc', 'levy')
  const index = pool.tickers[0] === 'usdc' ? 0 : 1
  const buying = takerOrder(usdc.address, levy.address, 100_000_000n)
  const gross = await outputOf(pool, 'usdc', buying.amountIn)
  const net = gross - (gross + 99n) / 100n
  answer = reply(buying, net, await poolSwap(pool, index, buying.amountIn))
  const bought = await chain.prepare(orderOf(buying, await callOf(buying), net))
  expect(bought.simulatedOut).toBe(net)
  await expect(chain.prepare(orderOf(buying, await callOf(buying), net + 1n))).rejects.toMatchObject({
    code: 'SIMULATION_FAILED',
  })
  await node.depositToken(levy.address, user.address, 30_000_000n)
  node.mine(40)
  const selling = takerOrder(levy.address, usdc.address, 20_000_000n)
  const paid = await outputOf(pool, 'levy', 19_800_000n)
  answer = reply(selling, paid, await poolSwap(pool, index === 0 ? 1 : 0, selling.amountIn))
  const sold = await chain.prepare(orderOf(selling, await callOf(selling), paid))
  expect(sold.simulatedOut).toBe(paid)
  await chain.broadcast(await user.sign(sold.swap))
  node.mine(40)
  expect(await heldBy(await own(levy))).toBe(10_000_000n)
})

test('a payment that arrives loosens the bound of the output: what the swap paid is observed, also below the minimum', async () => {
  await node.depositToken(usdt.address, user.address, 1n)
  node.mine(40)
  const { pool, order, paid } = await stableSwap()
  const { swap } = await chain.prepare(orderOf(order, await callOf(order), paid))
  const raw = await user.sign(swap)
  const other = await createSolanaUser()
  await node.deposit(other.address, oneSol)
  await node.depositToken(usdc.address, other.address, order.amountIn)
  await node.depositToken(usdt.address, other.address, 1n)
  const accounts = { source: await ataOf(usdc, other.address), target: await ataOf(usdt, other.address) }
  const inputIndex = pool.tickers[0] === 'usdc' ? 0 : 1
  const earlier = await pool.swap((address) => node.bank.readAccount(address), {
    ...{ owner: other.address, ...accounts, inputIndex, units: order.amountIn },
  })
  const { programAddress: program, data = new Uint8Array() } = earlier
  const metas = (earlier.accounts ?? []).map(({ address, role }) => ({
    ...{ address, isSigner: role >= 2, isWritable: role === 1 || role === 3 },
  }))
  const blockhash = node.bank.blockAt('processed').hash
  const unsigned = encodeUnsigned(other.address, blockhash, [{ program, accounts: metas, data: new Uint8Array(data) }])
  expect(await chain.broadcast(await other.sign(unsigned.toString('base64')))).toEqual({ kind: 'accepted' })
  await node.depositToken(usdt.address, user.address, paid)
  node.mine(40)
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  node.mine(40)
  const seen = await chain.observe((await chain.readSigned(raw)).hash)
  const received = (await heldBy(await own(usdt))) - 1n - paid
  expect(received > 0n && received < paid).toBe(true)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received })
})

describe('an instruction is not used', () => {
  test('if it pays somebody else', async () => {
    const { order, paid, swap } = await stableSwap()
    const thief = await createSolanaUser()
    const theirs = await ataOf(usdt, thief.address)
    await node.depositToken(usdt.address, thief.address, 1n)
    node.mine(40)
    const target = await own(usdt)
    const accounts = (swap.accounts ?? []).map((meta) =>
      meta.address === target ? { ...meta, address: theirs } : meta,
    )
    answer = reply(order, paid, { ...swap, accounts })
    const call = await callOf(order)
    await expect(chain.prepare(orderOf(order, call, paid))).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
    // The bound holds on the chain: without a minimum the same instruction would run.
    await expect(chain.prepare(orderOf(order, call, 1n))).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  })

  test('if it pays less than the minimum, or takes more than the input', async () => {
    const { pool, order, paid } = await stableSwap()
    const call = await callOf(order)
    await expect(chain.prepare(orderOf(order, call, paid + 1n))).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
    const index = pool.tickers[0] === 'usdc' ? 0 : 1
    answer = reply(order, paid, await poolSwap(pool, index, order.amountIn + 1n))
    const greedy = await callOf(order)
    await expect(chain.prepare(orderOf(order, greedy, paid))).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  })

  test('if it names another token account of the user', async () => {
    const { order, paid, swap } = await stableSwap()
    const jup = present(catalogueTokens[2], 'a third token')
    await node.depositToken(jup.address, user.address, 7n)
    node.mine(40)
    const accounts = [...(swap.accounts ?? []), { address: await own(jup), role: 1 as const }]
    answer = reply(order, paid, { ...swap, accounts })
    expect(await ask(order)).toBeNull()
    // Its creation as an account between the two makes it one of the trade, whose balance must not fall.
    answer = reply(order, paid, { ...swap, accounts }, { setupInstructions: [creationOf(jup, await own(jup))] })
    expect((await callOf(order)).others).toMatchObject([{ mint: jup.address, held: 7n }])
  })

  test('if a token account of the trade has a delegate: the swap would take its right', async () => {
    const { order } = await stableSwap()
    expect(await ask(order)).not.toBeNull()
    const { address } = await createSolanaUser()
    const approval = await prepareApproval(await own(usdc), address)
    await chain.broadcast(await user.sign(approval))
    node.mine(40)
    expect(await ask(order)).toBeNull()
  })

  // The place of the authority in the data of each kind.
  test.for([
    ['a stake', 'Stake11111111111111111111111111111111111111', 44, 200],
    ['a durable nonce', '11111111111111111111111111111111', 8, 80],
    ['a program', 'BPFLoaderUpgradeab1e11111111111111111111111', 13, 45],
  ] as const)('if it names %s of the user', async ([, program, at, bytes]) => {
    const { order, paid, swap } = await stableSwap()
    const { address } = await createSolanaUser()
    const accounts = [...(swap.accounts ?? []), { address, role: 1 as const }]
    answer = reply(order, paid, { ...swap, accounts })
    for (const authority of [SOL, user.address]) {
      const data = new Uint8Array(bytes)
      data.set(encode(authority), at)
      const account = { exists: true, address, data, executable: false, space: BigInt(bytes), lamports: oneSol }
      node.bank.writeAccount({ ...account, programAddress: program } as never)
      expect([authority, (await ask(order)) === null]).toEqual([authority, authority === user.address])
    }
  })

  test.for([
    ['the program is not published', (swap: Json) => ({ ...swap, programId: SOL })],
    [
      'somebody else signs',
      (swap: Json) => ({ ...swap, accounts: [{ pubkey: SOL, isSigner: true, isWritable: true }] }),
    ],
    ['no account signs', (swap: Json) => ({ ...swap, accounts: [{ pubkey: SOL, isSigner: false, isWritable: true }] })],
    [
      'an account is no address',
      (swap: Json) => ({ ...swap, accounts: [{ pubkey: 'l', isSigner: true, isWritable: true }] }),
    ],
    ['an account lacks a member', (swap: Json) => ({ ...swap, accounts: [{ pubkey: SOL }] })],
    ['its data are not base64', (swap: Json) => ({ ...swap, data: 'ab!=' })],
    ['it is no object', () => 7],
  ] as const)('if %s', async ([, change]) => {
    const { order } = await stableSwap()
    expect(await ask(order)).not.toBeNull()
    answer = { ...answer, swapInstruction: change(answer?.['swapInstruction'] as Json) }
    expect(await ask(order)).toBeNull()
  })

  test('if its setup does more than create token accounts of the user, or it needs further instructions', async () => {
    const { order, swap } = await stableSwap()
    for (const more of [{ setupInstructions: [toJson(swap)] }, { otherInstructions: [toJson(swap)] }]) {
      await stableSwap(more)
      expect(await ask(order)).toBeNull()
    }
  })

  test('if its transaction is too large', async () => {
    const { order, paid, swap } = await stableSwap()
    const strangers = await Promise.all(Array.from({ length: 24 }, () => createSolanaUser()))
    const accounts = [...(swap.accounts ?? []), ...strangers.map(({ address }) => ({ address, role: 0 as const }))]
    answer = reply(order, paid, { ...swap, accounts })
    await expect(chain.prepare(orderOf(order, await callOf(order), paid))).rejects.toMatchObject({ code: 'NO_ROUTE' })
  })
})

/** Instructions of other programs stand for what an aggregator's program could do with the user's signature. */
async function prepareWith(swap: Instruction, { isTargetNew } = { isTargetNew: false }): Promise<PreparedSwap> {
  const order = takerOrder(usdc.address, usdt.address, 1_000_000n)
  if (!isTargetNew) await node.depositToken(usdt.address, user.address, 1n)
  node.mine(40)
  answer = reply(order, 1n, swap)
  const trade = present(await ask(order, [swap.programAddress]), 'a checked trade')
  return chain.prepare(orderOf(order, trade.call as InstructionCall, 0n))
}

/** SetAuthority of the kind CloseAccount: `closer` may close the token account. */
const setCloser = (account: Awaited<ReturnType<typeof own>>, closer: string): Instruction => ({
  programAddress: usdt.program,
  accounts: [
    { address: account, role: 1 },
    { address: user.address, role: 2 },
  ],
  data: new Uint8Array([6, 3, 1, ...encode(closer)]),
})

describe('a simulation refuses an instruction', () => {
  const refusal = async (...given: Parameters<typeof prepareWith>) =>
    prepareWith(...given).catch((error: unknown) => error)

  test('that takes lamports which the allowance for the fee of the network would cover', async () => {
    const { address } = await createSolanaUser()
    expect(await refusal(user.pay(address, oneSol / 1_000n))).toMatchObject({
      problems: [{ reason: 'it takes lamports' }],
    })
  })

  test('that takes more lamports, or lets others close a token account, which the transaction itself does not allow', async () => {
    const { address } = await createSolanaUser()
    const reason = expect.stringContaining('InstructionError')
    expect(await refusal(user.pay(address, oneSol))).toMatchObject({ problems: [{ reason }] })
    const closing = setCloser(await own(usdt), address)
    for (const isTargetNew of [true, false])
      expect(await refusal(closing, { isTargetNew })).toMatchObject({ problems: [{ reason }] })
  })

  test('that does nothing of it, where the transaction creates the account of the output', async () => {
    const { address } = await createSolanaUser()
    expect(await refusal(user.pay(address, 0n), { isTargetNew: true })).toMatchObject({ simulatedOut: 0n })
  })
})

describe('the chain itself', () => {
  let lying: FaultyNode
  beforeEach(async () => {
    lying = await startFaultyNode(node.rpcUrl)
  })
  afterEach(() => lying.stop())

  /** Every simulation succeeds and changes nothing, as if the instruction did something else on the chain. */
  function hideSimulations(): void {
    chain = createSolanaSwapChain({ network, rpcUrls: [lying.url] })
    lying.set(async ({ method, params }) => {
      if (method !== 'simulateTransaction') return undefined
      const { addresses } = (params[1] as { accounts: { addresses: string[] } }).accounts
      const options = { commitment: 'confirmed', encoding: 'base64' }
      const { context, value } = (await callOnce(node.rpcUrl, 'getMultipleAccounts', [addresses, options])) as Json
      return { result: { context, value: { err: null, unitsConsumed: 100_000, accounts: value } } }
    })
  }

  /** Sends a transaction. Whether the chain executed it. */
  async function isExecuted({ swap }: Pick<PreparedSwap, 'swap'>): Promise<boolean> {
    const raw = await user.sign(swap)
    expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    node.mine(40)
    const seen = await chain.observe((await chain.readSigned(raw)).hash)
    if (seen.kind !== 'included') throw new Error(`the swap is ${seen.kind}`)
    return seen.ok
  }

  // 1.4 million units at 1,000,000 millionths of a lamport, above what the transaction really pays: 5,000 lamports.
  test.for([
    [1_400_000n, true],
    [1_400_001n, false],
  ] as const)('bounds %i lamports that an instruction takes: executed %s', async ([units, isAllowed]) => {
    hideSimulations()
    const { address } = await createSolanaUser()
    const prepared = await prepareWith(user.pay(address, units))
    const before = await lamportsOf(user.address)
    expect(await isExecuted(prepared)).toBe(isAllowed)
    expect(await lamportsOf(address)).toBe(isAllowed ? units : 0n)
    expect(before - (await lamportsOf(user.address))).toBe(5_000n + (isAllowed ? units : 0n))
  })

  /** The signed swap with a price of compute units that its wallet set, in millionths of a lamport. */
  async function signWithPrice({ swap }: PreparedSwap, price: bigint): Promise<string> {
    const bytes = Buffer.from(swap, 'base64')
    // SetComputeUnitPrice, after the length of its data.
    const at = bytes.indexOf(Buffer.from([9, 3, 0, 0, 0, 0, 0, 0, 0, 0]))
    expect(at).toBeGreaterThan(0)
    bytes.writeBigUInt64LE(price, at + 2)
    return user.sign(bytes.toString('base64'))
  }

  test('executes a swap whose wallet raised the priority fee to the allowance; one above it would fail and is refused', async () => {
    const { order, paid } = await stableSwap()
    const prepare = async () => chain.prepare(orderOf(order, await callOf(order), paid - paid / 10n))
    const prepared = await prepare()
    const { instructions } = decodeTransaction(Buffer.from(prepared.swap, 'base64'))
    // SetComputeUnitLimit is the first.
    const limit = Buffer.from(present(instructions[0], 'an instruction').data).readUInt32LE(1)
    const highest = 1_400_000_000_000n / BigInt(limit)
    const raised = await signWithPrice(prepared, highest)
    const { hash } = await chain.readSigned(raised)
    const tooHigh = await signWithPrice(prepared, highest + 1_000_000_000n)
    await expect(chain.readSigned(tooHigh)).rejects.toMatchObject({
      code: 'RAW_TX_INVALID',
      message: expect.stringMatching(/pays \d+ lamports to the network, and this swap fails above 1405000/),
    })
    expect(await chain.broadcast(raised)).toEqual({ kind: 'accepted' })
    node.mine(40)
    expect(await chain.observe(hash)).toMatchObject({ kind: 'included', ok: true })
    // What the refusal prevents: the chain takes the fee and executes nothing.
    const failing = await signWithPrice(await prepare(), highest + 1_000_000_000n)
    const sent = await callOnce(node.rpcUrl, 'sendTransaction', [failing, { encoding: 'base64', skipPreflight: true }])
    node.mine(40)
    expect(await chain.observe(String(sent))).toMatchObject({ kind: 'included', ok: false })
  })

  test('shows a swap that paid nothing where a payment that arrived let the instruction take of the output', async () => {
    hideSimulations()
    const thief = await createSolanaUser()
    await node.depositToken(usdt.address, thief.address, 1n)
    const theirs = await ataOf(usdt, thief.address)
    const amount = Buffer.alloc(8)
    amount.writeBigUInt64LE(5n)
    const prepared = await prepareWith({
      programAddress: usdt.program,
      accounts: [
        { address: await own(usdt), role: 1 },
        { address: usdt.address, role: 0 },
        { address: theirs, role: 1 },
        { address: user.address, role: 2 },
      ],
      data: new Uint8Array([12, ...amount, 6]),
    } as Instruction)
    await node.depositToken(usdt.address, user.address, 10n)
    node.mine(40)
    const raw = await user.sign(prepared.swap)
    expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    node.mine(40)
    expect(await heldBy(theirs)).toBe(6n)
    const seen = await chain.observe((await chain.readSigned(raw)).hash)
    expect(seen).toMatchObject({ kind: 'included', ok: true, received: 0n })
  })

  test('takes back the right of a delegate, of the input, and of the output that the transaction creates', async () => {
    const { address: delegate } = await createSolanaUser()
    for (const [token, isTargetNew] of [
      [usdt, true],
      [usdc, false],
    ] as const) {
      const account = await own(token)
      expect(await isExecuted(await prepareWith(user.approve(account, delegate), { isTargetNew }))).toBe(true)
      const state = node.bank.readAccount(account)
      expect(Buffer.from(present(state.exists ? state.data : null, 'the account')).readUInt32LE(72)).toBe(0)
    }
  })

  test('refuses an instruction that lets others close a token account', async () => {
    hideSimulations()
    const { address } = await createSolanaUser()
    expect(await isExecuted(await prepareWith(setCloser(await own(usdc), address)))).toBe(false)
  })

  /** A swap of USDC to SOL with a minimum so far below what it pays. */
  async function prepareSale(margin: bigint) {
    const pool = poolOf('sol', 'usdc')
    const order = takerOrder(usdc.address, SOL, 1_000_000_000n)
    const paid = await outputOf(pool, 'usdc', order.amountIn)
    answer = reply(order, paid, await poolSwap(pool, pool.tickers[0] === 'usdc' ? 0 : 1, order.amountIn))
    return { paid, prepared: await chain.prepare(orderOf(order, await callOf(order), paid - margin)) }
  }

  test.for([
    [1_000_000n, true],
    [1_000_001n, false],
  ] as const)('bounds an output in SOL in lamports, with %i lost elsewhere: executed %s', async (one) => {
    const [lost, isAllowed] = one
    // The payment costs 5,000 lamports, too.
    const { prepared } = await prepareSale(1_005_000n)
    const { address } = await createSolanaUser()
    const blockhash = node.bank.blockAt('processed').hash
    const payment = encodeUnsigned(user.address, blockhash, [transferLamports(user.address, address, lost)])
    await chain.broadcast(await user.sign(payment.toString('base64')))
    node.mine(40)
    expect(await isExecuted(prepared)).toBe(isAllowed)
  })

  test('leaves the minimum of an output in SOL after the fee of the network', async () => {
    chain = createSolanaSwapChain({ network, rpcUrls: [lying.url] })
    lying.set(({ method }) =>
      method === 'getRecentPrioritizationFees' ? { result: [{ slot: 1, prioritizationFee: 1_000_000 }] } : undefined,
    )
    await expect(prepareSale(1_000n)).rejects.toMatchObject({
      problems: [{ reason: 'the fee of the network leaves less than the minimum' }],
    })
    const before = await lamportsOf(user.address)
    const { paid, prepared } = await prepareSale(1_000_000n)
    expect(prepared.simulatedOut).toBe(paid)
    expect(await isExecuted(prepared)).toBe(true)
    const gained = (await lamportsOf(user.address)) - before
    expect(gained < paid - 5_000n && gained >= paid - 1_000_000n).toBe(true)
  })
})

/** Of the accounts that a simulation returns: after the user's own account and that of the fee. */
const [SOURCE, TARGET] = [2, 3]

/** Changes the balance of a token account in a reply. */
function changeUnits(account: Readonly<{ data: string[] }> | undefined, by: bigint): void {
  const { data } = present(account, 'a token account')
  const bytes = Buffer.from(data[0] ?? '', 'base64')
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(64) + by, 64)
  data[0] = bytes.toString('base64')
}

test('lamports that an instruction takes are not made up for by wrapped SOL that the user held', async () => {
  const wrapped = associatedToken(user.address, SOL, usdc.program)
  const instructions = [
    createAssociated(user.address, wrapped, user.address, SOL, usdc.program),
    transferLamports(user.address, wrapped, 5n * oneSol),
    syncNative(wrapped),
  ]
  const unsigned = encodeUnsigned(user.address, node.bank.blockAt('processed').hash, instructions)
  expect(await chain.broadcast(await user.sign(unsigned.toString('base64')))).toEqual({ kind: 'accepted' })
  node.mine(40)
  const order = takerOrder(SOL, usdc.address, oneSol)
  const build = async (taken: bigint) => {
    const { address } = await createSolanaUser()
    const swap = user.pay(address, taken)
    answer = reply(order, 1n, swap)
    const trade = present(await ask(order, [swap.programAddress]), 'a checked trade')
    return chain.prepare(orderOf(order, trade.call as InstructionCall, 0n))
  }
  await expect(build(oneSol + 1n)).rejects.toMatchObject({ problems: [{ reason: 'it takes lamports' }] })
  expect(await build(oneSol)).toMatchObject({ simulatedOut: 0n })
})

describe('with two nodes', () => {
  let faulty: FaultyNode
  beforeEach(async () => {
    faulty = await startFaultyNode(node.rpcUrl)
  })
  afterEach(() => faulty.stop())

  /** The first node says so much more about the balance of an account, also when it simulates. */
  function misstate(account: string, by: bigint): void {
    chain = createSolanaSwapChain({ network, rpcUrls: [faulty.url, node.rpcUrl] })
    faulty.set(async ({ method, params }, forward) => {
      const index = method === 'getMultipleAccounts' ? (params[0] as string[]).indexOf(account) : -1
      if (index === -1) return undefined
      const result = structuredClone(await forward()) as { value: { data: string[] }[] }
      changeUnits(result.value[index], by)
      return { result }
    })
  }
  const misstated = {
    ...{ code: 'SIMULATION_FAILED' },
    problems: [{ reason: 'a token account has another balance than the transaction states' }],
  }

  test('an instruction that takes more than the input is refused if the first one understates the source', async () => {
    const { pool, order, paid } = await stableSwap()
    answer = reply(order, paid, await poolSwap(pool, pool.tickers[0] === 'usdc' ? 0 : 1, order.amountIn + 1n))
    misstate(await own(usdc), -1n)
    await expect(chain.prepare(orderOf(order, await callOf(order), paid))).rejects.toMatchObject(misstated)
  })

  test('an instruction that pays less than the minimum is refused if the first one understates the target', async () => {
    await node.depositToken(usdt.address, user.address, 10n)
    node.mine(40)
    const { order, paid } = await stableSwap()
    misstate(await own(usdt), -5n)
    await expect(chain.prepare(orderOf(order, await callOf(order), paid + 5n))).rejects.toMatchObject(misstated)
  })

  test('an instruction is refused if the first one understates another account of the trade', async () => {
    const jup = present(catalogueTokens[2], 'a third token')
    await node.depositToken(jup.address, user.address, 7n)
    node.mine(40)
    const { order, paid, swap } = await stableSwap({ setupInstructions: [creationOf(jup, await own(jup))] })
    const accounts = [...(swap.accounts ?? []), { address: await own(jup), role: 1 as const }]
    answer = { ...answer, swapInstruction: toJson({ ...swap, accounts }) }
    const build = async () => chain.prepare(orderOf(order, await callOf(order), paid))
    expect(await build()).toMatchObject({ simulatedOut: paid })
    misstate(await own(jup), -1n)
    await expect(build()).rejects.toMatchObject(misstated)
  })

  test('an instruction is refused if a simulation shows that it takes more than the input', async () => {
    const { order, paid } = await stableSwap()
    chain = createSolanaSwapChain({ network, rpcUrls: [node.rpcUrl, faulty.url] })
    faulty.set(async ({ method }, forward) => {
      if (method !== 'simulateTransaction') return undefined
      const result = structuredClone(await forward()) as { value: { accounts: { data: string[] }[] } }
      changeUnits(result.value.accounts[SOURCE], -1n)
      return { result }
    })
    await expect(chain.prepare(orderOf(order, await callOf(order), paid))).rejects.toMatchObject({
      problems: [{ reason: 'it takes more than the input' }],
    })
  })
})

test('a second node simulates the instruction, too: what it contradicts is in the simulations, and a failure refuses the build', async () => {
  const { order, paid } = await stableSwap()
  const faulty = await startFaultyNode(node.rpcUrl)
  try {
    const both = createSolanaSwapChain({ network, rpcUrls: [node.rpcUrl, faulty.url] })
    const prepare = async () => both.prepare(orderOf(order, await callOf(order), paid))
    const paidBy = async () => (await prepare()).simulations.map(({ amountOut }) => amountOut)
    expect(await paidBy()).toEqual([paid, paid])
    let isFailing = false
    faulty.set(async ({ method }, forward) => {
      if (method !== 'simulateTransaction') return undefined
      const result = structuredClone(await forward()) as { value: { err: unknown; accounts: { data: string[] }[] } }
      if (isFailing) result.value.err = { InstructionError: [2, { Custom: 1 }] }
      changeUnits(result.value.accounts[TARGET], 5n)
      return { result }
    })
    expect(await paidBy()).toEqual([paid, paid + 5n])
    isFailing = true
    await expect(prepare()).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  } finally {
    await faulty.stop()
  }
})

describe('a signed transaction with a lookup table', () => {
  test('is refused if the table has other accounts than the build had', async () => {
    const { order, paid, swap } = await stableSwap()
    const named = (swap.accounts ?? []).map(({ address }) => address).filter((one) => one !== user.address)
    const [table, other] = [
      await createLookupTable(user, node, named),
      await createLookupTable(user, node, named.toReversed()),
    ]
    answer = { ...answer, addressesByLookupTableAddress: { [table]: [] } }
    const order_ = orderOf(order, await callOf(order), paid)
    const unsigned = Buffer.from((await chain.prepare(order_)).swap, 'base64')
    const at = unsigned.indexOf(Buffer.from(encode(table)))
    expect(at).toBeGreaterThan(0)
    unsigned.set(encode(other), at)
    const { action } = await chain.readSigned(await user.sign(unsigned.toString('base64')))
    expect(action).toMatchObject({ kind: 'swap' })
    expect(action).not.toMatchObject({ callHash: chain.hashCall(order_) })
  })

  test('is refused if a node does not have the table finally', async () => {
    const { order, paid, swap } = await stableSwap()
    const table = await createLookupTable(
      user,
      node,
      (swap.accounts ?? []).map(({ address }) => address),
    )
    answer = { ...answer, addressesByLookupTableAddress: { [table]: [] } }
    const raw = await user.sign((await chain.prepare(orderOf(order, await callOf(order), paid))).swap)
    const empty = await startSolanaNode({ port: 0, log: () => undefined })
    try {
      const both = createSolanaSwapChain({ network, rpcUrls: [node.rpcUrl, empty.rpcUrl] })
      await expect(both.readSigned(raw)).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    } finally {
      await empty.stop()
    }
  })
})

describe('a build', () => {
  const amountIn = 50n * oneSol
  const [deep, shallow] = marketPools.filter(({ tickers }) => tickers.includes('sol') && tickers.includes('usdc')) as [
    MarketPool,
    MarketPool,
  ]
  /** Jupiter's swap in the deeper pool; ours is in the shallow one, the only one that our router knows here. */
  const deepSwap = () => poolSwap(deep, deep.tickers[0] === 'sol' ? 0 : 1, amountIn)
  const order = () => takerOrder(SOL, usdc.address, amountIn)

  async function routeByShallowPool(): Promise<RoutedSwap> {
    const dexNetwork = {
      ...{ network: 'sol', wrapped: SOL, connectors: [usdc.address] },
      dexes: [{ name: 'raydium-cpmm', kind: 'raydium-cpmm', factory: raydiumCpmm } as const],
    }
    const options = { network, rpcUrls: [node.rpcUrl], dexNetwork, tokens: [usdc.address] }
    const source = createSolanaPools(options as unknown as NetworkPoolsOptions)
    await source.advance()
    const { pools, block } = present(source.current(), 'the pools')
    const pool = present(
      pools.find(({ id }) => id === shallow.address),
      'the shallow pool',
    )
    const tokenIn = pool.tokens.indexOf(SOL)
    const executed = executeRoute(
      [{ pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }],
      SOL,
      usdc.address,
      amountIn,
    )
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    const middleOut = await outputOf(deep, 'sol', amountIn)
    return { block, ...executed, gas: 60_000, millionGasOut: 0n, middleOut, unlisted: [] }
  }

  async function build() {
    const routed = await routeByShallowPool()
    const contracts = new Map([['sol', [raydiumCpmm]]])
    const asking = {
      aggregators: [createJupiter({ http, key: 'a key', url, contracts })],
      budgetMs: answer === null ? 50 : 30_000,
    }
    const deps = {
      networks: { getOpen: () => ({ chain, nativeIsToken: false }) },
      findToken: async (_: unknown, address: string) => ({
        ...{ network: 'sol', address, name: '', symbol: '', decimals: address === SOL ? 9 : 6 },
      }),
      router: { route: async () => routed },
      ...{ referenceOutOf: () => null, reliability: createAggregatorReliability({ now: () => 0 }) },
      ...{ askAggregators: createAskAggregators(asking), buildAggregatorCall: createBuildAggregatorCall(asking) },
      ...{ poolPauses: () => [], routes: createRouteReliability({ now: () => 0 }), log: { info: () => undefined } },
      refs: createSwapRefs(Buffer.from('a pepper')),
      ...{ feeAccounts: { findAddress: async () => null }, isOwnAddress: async () => false },
      approvals: { save: async () => undefined, has: async () => false },
      screening: { screen: async () => 'allow' },
      withIdempotency: (_partner: unknown, _key: unknown, work: (keep: () => null) => unknown) => work(() => null),
      ...{ settings: swapDefaults, now: () => 0 },
    } as unknown as BuildSwapDeps
    const request = {
      ...{ network: 'sol', account: user.address, fromTokenAddress: SOL, toTokenAddress: usdc.address, amount: '50' },
      ...{ slippage: '1', referrerFee: '0' },
    }
    const [unsigned] = await createBuildSwap(deps)({ id: 'p' } as Partner, request, null)
    const signed = await chain.readSigned(await user.sign(present(unsigned, 'a transaction')))
    return { action: present(signed.action, 'an action') as SwapAction, targets: signed.targets, routed }
  }

  test('uses the instruction if it pays more, with a minimum near our own route', async () => {
    answer = reply(order(), await outputOf(deep, 'sol', amountIn), await deepSwap())
    const { action, targets, routed } = await build()
    expect(targets).toContain(deep.address)
    expect(targets).not.toContain(shallow.address)
    const paid = await outputOf(deep, 'sol', amountIn)
    // One percent less than the claim is below what our own route pays less half a percent.
    expect(action.minReceived).toBe((routed.amountOut * 995n) / 1_000n)
    expect(action.minReceived > (paid * 99n) / 100n).toBe(true)
  })

  const unused: readonly (readonly [string, () => Promise<Json | null>])[] = [
    ['it pays less than ours', async () => reply(order(), 1n, await deepSwap())],
    [
      'its claim is too good',
      async () => reply(order(), (await outputOf(deep, 'sol', amountIn)) * 2n, await deepSwap()),
    ],
    [
      'it pays less than it claims',
      async (): Promise<Json> => {
        const paid = await outputOf(deep, 'sol', amountIn)
        return reply(order(), paid, await poolSwap(deep, deep.tickers[0] === 'sol' ? 0 : 1, oneSol))
      },
    ],
    ['it does not answer', async () => null],
    [
      'it is for another amount',
      async () => ({ ...reply(order(), await outputOf(deep, 'sol', amountIn), await deepSwap()), inAmount: '7' }),
    ],
    [
      'its instruction cannot be read',
      async () => ({ ...reply(order(), await outputOf(deep, 'sol', amountIn), await deepSwap()), swapInstruction: {} }),
    ],
    [
      'its transaction is too large',
      async (): Promise<Json> => {
        const swap = await deepSwap()
        const strangers = await Promise.all(Array.from({ length: 24 }, () => createSolanaUser()))
        const accounts = [...(swap.accounts ?? []), ...strangers.map(({ address }) => ({ address, role: 0 as const }))]
        return reply(order(), await outputOf(deep, 'sol', amountIn), { ...swap, accounts })
      },
    ],
  ]
  test.for(unused)('uses our own route if %s', async ([, answerOf]) => {
    answer = await answerOf()
    const { action, targets } = await build()
    expect(targets).toContain(shallow.address)
    expect(targets).not.toContain(deep.address)
    expect(action.pools).toEqual([shallow.address])
  })
})
