import { encodeFunctionData, type Hex, parseAbi, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { EvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import { AppError } from '../../../src/core/domain/errors.ts'
import { referrerFeeOf } from '../../../src/core/domain/percent.ts'
import { present } from '../../../src/lib/assert.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { compile } from '../chains/evm/compile.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { testTokens } from '../chains/evm/tokens.ts'
import { ether, native, type Stage, sendAll, sendExact, sign, startStage, user, via } from './stage.ts'

// Prepared swaps are signed with viem, sent, and pay the simulated amount: on a real node with Uniswap's contracts.

let stage: Stage
let chain: EvmSwapChain
let a: Hex
let b: Hex
let c: Hex
let pools: Record<'ab2' | 'ab3' | 'bc3' | 'aw2' | 'cw4', Pool>

beforeAll(async () => {
  stage = await startStage()
  const { dex } = stage
  chain = stage.swaps()
  ;[a, b, c] = dex.tokens.map((token) => token.toLowerCase()) as [Hex, Hex, Hex]
  pools = {
    ab2: await dex.makeV2(a, b, 300_000n * ether, 310_000n * ether),
    ab3: await dex.makeV3(a, b, 500, 10, 2000),
    bc3: await dex.makeV3(b, c, 3000, 60, 12_000),
    aw2: await dex.makeV2(a, dex.wrapped, 100_000n * ether, 99_000n * ether),
    cw4: await dex.makeV4(null, c, 3000, 60),
  }
  for (const token of [a, b]) await dex.write(dex.owner, token, 'transfer', [user.address, 100_000n * ether])
})
afterAll(() => stage?.dex.stop())

/** Runs the work and reverts the chain afterwards. */
async function isolated(work: () => Promise<void>) {
  const snapshot = await stage.ask('evm_snapshot')
  try {
    await work()
  } finally {
    await stage.ask('evm_revert', [snapshot])
  }
}

async function refusal(attempt: Promise<unknown>): Promise<AppError> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof AppError)) throw error ?? new Error('nothing was refused')
  return error
}

/** Prepares, signs and sends a swap, and checks its result on the chain. */
async function trade(order: SwapOrder, expected: bigint, approves: boolean) {
  const prepared = await chain.prepare(order)
  expect(prepared.simulatedOut).toBe(expected)
  expect(prepared.approve !== null).toBe(approves)
  const hash = await sendExact(stage, chain, order, prepared, expected)
  await stage.ask('anvil_mine', ['0x2'])
  expect(await chain.observe(hash)).toMatchObject({ confirmations: 3, received: expected })
  if (approves) expect(await allowance(order.tokenIn)).toBe(0n)
  return { prepared, hash }
}

const allowance = (token: string) =>
  stage.dex.reader.readContract({
    address: token as Hex,
    abi: [
      {
        type: 'function',
        name: 'allowance',
        stateMutability: 'view',
        inputs: [{ type: 'address' }, { type: 'address' }],
        outputs: [{ type: 'uint256' }],
      },
    ],
    functionName: 'allowance',
    args: [user.address, chain.spender as Hex],
  }) as Promise<bigint>

test('swaps native currency for a token', () =>
  isolated(async () => {
    const recipient = stage.dex.recipient.toLowerCase()
    const built = stage.order([via(pools.aw2, stage.wrapped), via(pools.ab3, a)], {
      ...{ tokenIn: native, tokenOut: b, amountIn: 12n * ether + 7n, recipient },
    })
    const { prepared } = await trade({ ...built.order, minReceived: built.expected }, built.expected, false)
    expect(parseTransaction(prepared.swap as Hex)).toMatchObject({
      type: 'eip1559',
      chainId: 31_337,
      value: 12n * ether + 7n,
    })
  }))

test('swaps a token for a token with an exact approval, a split, two hops and a fee', () =>
  isolated(async () => {
    const swaps = [via(pools.ab2, a, 0.4), via(pools.ab3, a), via(pools.bc3, b)]
    const terms = { tokenIn: a, tokenOut: c, amountIn: 1_234n * ether + 567n, feePpm: 12_345 }
    const built = stage.order(swaps, terms)
    const expected = built.expected - referrerFeeOf(built.expected, 12_345)
    const before = await stage.dex.balanceOf(c, stage.dex.partner)
    const { prepared, hash } = await trade({ ...built.order, minReceived: expected }, expected, true)
    expect((await stage.dex.balanceOf(c, stage.dex.partner)) - before).toBe(built.expected - expected)
    const approve = chain.readSigned(await sign(prepared.approve ?? ''))
    expect(approve.action).toEqual({ kind: 'approve', token: a, spender: chain.spender, units: terms.amountIn })
    const swap = chain.readSigned(await sign(prepared.swap))
    expect(swap).toMatchObject({
      hash,
      signer: user.address.toLowerCase(),
      nonce: approve.nonce + 1,
      targets: [chain.spender],
    })
    expect(swap.action).toMatchObject({
      ...{
        kind: 'swap',
        executor: chain.executor,
        tokenIn: a,
        tokenOut: c,
        minReceived: expected,
      },
      ...{ amountIn: terms.amountIn, recipient: user.address.toLowerCase(), feePpm: 12_345 },
      expiry: { by: 'time', at: 2 ** 40 },
      feeTo: stage.dex.partner.toLowerCase(),
    })
    expect(await chain.findTransaction(hash)).toEqual(swap)
  }))

test('swaps a token for native currency', () =>
  isolated(async () => {
    const recipient = '0x00000000000000000000000000000000deadbeef'
    const built = stage.order([via(pools.bc3, b), via(pools.cw4, c)], {
      ...{ tokenIn: b, tokenOut: native, amountIn: 55n * ether + 1n, recipient },
    })
    await trade({ ...built.order, minReceived: built.expected }, built.expected, true)
  }))

test('needs no approval with a sufficient allowance', () =>
  isolated(async () => {
    await stage.dex.write(stage.dex.user, a, 'approve', [chain.spender, 5n * ether])
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 5n * ether })
    await trade(built.order, built.expected, false)
  }))

test('replaces a partial allowance by an exact one', () =>
  isolated(async () => {
    await stage.dex.write(stage.dex.user, a, 'approve', [chain.spender, ether])
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 5n * ether })
    await trade(built.order, built.expected, true)
  }))

test.each(['with eth_simulateV1', 'without it'])('requires a reset of the old allowance, %s', (how) =>
  isolated(async () => {
    const { NoReturnToken } = await testTokens()
    const { dex } = stage
    const tether = await stage.deploy(NoReturnToken, ['Tether', 'USDT', 6])
    for (const holder of [dex.owner, dex.user])
      await dex.send(dex.owner, tether, encodeMint([holder, 1_000_000n * ether]))
    const pool = await dex.makeV2(tether, b, 100_000n * ether, 100_000n * ether)
    await dex.write(dex.user, tether, 'approve', [chain.spender, 1n])
    const { url, stop } = await withoutSimulation()
    const own = how === 'without it' ? stage.swaps({ rpcUrls: [url] }) : chain
    const built = stage.order([via(pool, tether)], { tokenIn: tether, tokenOut: b, amountIn: 3n * ether })
    const refused = await refusal(own.prepare(built.order))
    expect(refused.code).toBe('ALLOWANCE_RESET_REQUIRED')
    const rawTx = String(refused.problems[0]?.['rawTx'])
    const reset = chain.readSigned(await sign(rawTx))
    expect(reset.action).toEqual({ kind: 'approve', token: tether, spender: chain.spender, units: 0n })
    expect((await own.broadcast(await sign(rawTx))).kind).toBe('accepted')
    await expect.poll(() => allowance(tether), PATIENCE).toBe(0n)
    await trade(built.order, built.expected, true)
    await stop()
  }),
)

test('simulates with a state override of the allowance without eth_simulateV1', () =>
  isolated(async () => {
    const { url, stop } = await withoutSimulation()
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const prepared = await stage.swaps({ rpcUrls: [url] }).prepare({ ...built.order, minReceived: built.expected })
    expect(prepared.simulatedOut).toBe(built.expected)
    await sendAll(chain, prepared)
    const tight = { ...built.order, minReceived: built.expected + 1n }
    const refused = await refusal(stage.swaps({ rpcUrls: [url] }).prepare(tight))
    expect(refused.problems[0]?.['reason']).toMatch(/^TooLittle\(\d+, \d+\)$/)
    await stop()
  }))

test('reads the revert reason in geth’s format, and falls back if a provider refuses the method', () =>
  isolated(async () => {
    const node = await startFaultyNode(stage.url)
    const own = stage.swaps({ rpcUrls: [node.url] })
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const tight = { ...built.order, minReceived: built.expected + 1n }
    node.set(async ({ method }, forward) => {
      if (method !== 'eth_simulateV1') return undefined
      const [{ calls }] = (await forward()) as [{ calls: { status: string; returnData: string }[] }]
      const asGeth = calls.map((call) =>
        call.status === '0x1'
          ? call
          : { ...call, returnData: '0x', error: { code: 3, message: 'execution reverted', data: call.returnData } },
      )
      return { result: [{ calls: asGeth }] }
    })
    for (const attempt of [0, 1]) {
      const refused = await refusal(own.prepare(tight))
      expect(refused.problems[0]?.['reason']).toBe(`TooLittle(${built.expected}, ${built.expected + 1n})`)
      if (attempt === 0) node.set(({ method }) => (method === 'eth_simulateV1' ? { status: 403 } : undefined))
    }
    await node.stop()
  }))

/** The same node without eth_simulateV1. */
async function withoutSimulation() {
  const node = await startFaultyNode(stage.url)
  node.set(({ method }) =>
    method === 'eth_simulateV1' ? { error: { code: -32601, message: 'the method does not exist' } } : undefined,
  )
  return node
}

test('a price change before the swap fails the simulation, and the chain reverts a signed swap', () =>
  isolated(async () => {
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 100n * ether })
    const order = { ...built.order, minReceived: built.expected }
    const prepared = await chain.prepare(order)
    // Another account trades first.
    const earlier = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 1_000n * ether })
    await sendFromOwner(earlier.order)
    const refused = await refusal(chain.prepare(order))
    expect(refused.code).toBe('SIMULATION_FAILED')
    expect(refused.problems[0]?.['reason']).toMatch(new RegExp(`^TooLittle\\(\\d+, ${built.expected}\\)$`))
    const hash = await sendAll(chain, prepared)
    expect(await chain.observe(hash)).toMatchObject({ kind: 'included', ok: false, received: null })
  }))

/** Sends a swap from the node owner's account. */
async function sendFromOwner(order: SwapOrder) {
  const { dex } = stage
  const account = dex.owner.toLowerCase()
  await dex.write(dex.owner, order.tokenIn as Hex, 'approve', [chain.spender, order.amountIn])
  const { to, data, value } = parseTransaction((await chain.prepare({ ...order, account })).swap as Hex)
  await dex.send(dex.owner, to as Hex, data as Hex, value)
}

test('rejects insufficient token, native or gas balance', async () => {
  const poor = '0x00000000000000000000000000000000deadbee1'
  const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: ether, account: poor })
  expect((await refusal(chain.prepare(built.order))).problems[0]).toMatchObject({
    ...{ code: 'INSUFFICIENT_BALANCE', required: String(ether), available: '0' },
  })
  const nativeSwap = stage.order([via(pools.aw2, stage.wrapped)], {
    tokenIn: native,
    tokenOut: a,
    amountIn: ether,
    account: poor,
  })
  expect((await refusal(chain.prepare(nativeSwap.order))).code).toBe('INSUFFICIENT_BALANCE')
  await stage.ask('anvil_setBalance', [poor, `0x${ether.toString(16)}`])
  const refused = await refusal(chain.prepare(nativeSwap.order))
  expect(refused.problems[0]).toMatchObject({ code: 'INSUFFICIENT_BALANCE', available: String(ether) })
  await stage.dex.write(stage.dex.owner, a, 'transfer', [poor, ether])
  await stage.ask('anvil_setBalance', [poor, '0x1'])
  expect((await refusal(chain.prepare(built.order))).code).toBe('INSUFFICIENT_BALANCE')
})

test('a fee-on-transfer token pays the simulated amount', () =>
  isolated(async () => {
    const { FeeToken } = await testTokens()
    const { dex } = stage
    const levy = await stage.deploy(FeeToken, ['Levy', 'LEVY', 18, 100])
    for (const holder of [dex.owner, dex.user])
      await dex.send(dex.owner, levy, encodeMint([holder, 1_000_000n * ether]))
    const pool = await dex.makeV2(levy, b, 100_000n * ether, 100_000n * ether)
    for (const [tokenIn, tokenOut] of [
      [levy, b],
      [b, levy],
    ] as const) {
      const built = stage.order([via(pool, tokenIn)], { tokenIn, tokenOut, amountIn: 3n * ether })
      const { simulatedOut } = await chain.prepare(built.order)
      expect(simulatedOut).toBeLessThan(built.expected)
      await trade({ ...built.order, minReceived: simulatedOut }, simulatedOut, true)
    }
  }))

test.each(['with eth_simulateV1', 'without it'])(
  'D4: a token cannot tell the simulation from the execution, %s',
  (how) =>
    isolated(async () => {
      const { Pretender } = await compile(new URL('./odd-tokens.sol', import.meta.url).pathname)
      const { dex } = stage
      const evil = await stage.deploy(present(Pretender, 'Pretender'))
      await dex.send(dex.owner, evil, encodeMint([dex.owner, 1_000_000n * ether]))
      await stage.ask('anvil_setCoinbase', ['0x00000000000000000000000000000000deadbee5'])
      const pool = await dex.makeV2(evil, b, 100_000n * ether, 100_000n * ether)
      const { url, stop } = await withoutSimulation()
      const own = how === 'without it' ? stage.swaps({ rpcUrls: [url] }) : chain
      const built = stage.order([via(pool, b)], { tokenIn: b, tokenOut: evil, amountIn: 3n * ether })
      const prepared = await own.prepare(built.order)
      // The transfer from the pool keeps a tenth, rounded down, and so does the transfer to the recipient.
      const once = built.expected - built.expected / 10n
      expect([once, once - once / 10n]).toContain(prepared.simulatedOut)
      const before = await dex.balanceOf(evil, user.address)
      await sendAll(chain, prepared)
      expect((await dex.balanceOf(evil, user.address)) - before).toBe(prepared.simulatedOut)
      await stop()
    }),
)

const WORD = /^0x[0-9a-f]{64}$/
/** A node that adds a tenth to the amount that each simulated swap returns. */
async function startBoastingNode() {
  const node = await startFaultyNode(stage.url)
  node.set(async ({ method }, forward) => {
    if (method !== 'eth_simulateV1') return undefined
    const blocks = (await forward()) as { calls: { returnData: string }[] }[]
    const boast = (data: string) =>
      WORD.test(data) && BigInt(data) > 1n ? `0x${((BigInt(data) * 11n) / 10n).toString(16).padStart(64, '0')}` : data
    return {
      result: blocks.map((block) => ({
        calls: block.calls.map((call) => ({ ...call, returnData: boast(call.returnData) })),
      })),
    }
  })
  return node
}

test('D4, D5: is simulated by a second node, at the block that it names', () =>
  isolated(async () => {
    const liar = await startBoastingNode()
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const latest = (await stage.ask('eth_getBlockByNumber', ['latest', false])) as { hash: string; number: string }
    const block = { hash: latest.hash, height: Number(latest.number) }
    const boasted = { block, amountOut: (built.expected * 11n) / 10n }
    const honest = { block, amountOut: built.expected }
    const first = await stage.swaps({ rpcUrls: [liar.url, stage.url] }).prepare(built.order)
    expect(first).toMatchObject({ simulations: [boasted, honest], simulatedOut: built.expected })
    const second = await stage.swaps({ rpcUrls: [stage.url, liar.url] }).prepare(built.order)
    expect(second.simulations).toEqual([honest, boasted])
    // A node that does not answer confirms nothing, and does not prevent swaps.
    liar.set(() => ({ status: 500 }))
    const alone = await stage.swaps({ rpcUrls: [stage.url, liar.url] }).prepare(built.order)
    expect(alone.simulations).toEqual([honest])
    await liar.stop()
  }))

test('D5: fails if it would revert on a second node', () =>
  isolated(async () => {
    const other = await startFaultyNode(stage.url)
    other.set(async ({ method }, forward) => {
      if (method !== 'eth_simulateV1') return undefined
      const [{ calls }] = (await forward()) as [{ calls: object[] }]
      return { result: [{ calls: calls.map((call) => ({ ...call, status: '0x0', returnData: '0x' })) }] }
    })
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const refused = await refusal(stage.swaps({ rpcUrls: [stage.url, other.url] }).prepare(built.order))
    expect(refused.code).toBe('SIMULATION_FAILED')
    await other.stop()
  }))

test('D5: takes nonce and fees that a second node confirms', () =>
  isolated(async () => {
    const liar = await startFaultyNode(stage.url)
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const honest = parseTransaction((await chain.prepare(built.order)).swap as Hex)
    const price = async () => {
      const both = [liar.url, stage.url]
      const built0 = parseTransaction((await stage.swaps({ rpcUrls: both }).prepare(built.order)).swap as Hex)
      const built1 = parseTransaction(
        (await stage.swaps({ rpcUrls: [...both].reverse() }).prepare(built.order)).swap as Hex,
      )
      expect(built0).toEqual(built1)
      return built0
    }
    liar.set(({ method }) => (method === 'eth_getTransactionCount' ? { result: '0x3039' } : undefined))
    expect(await price()).toMatchObject({ nonce: honest.nonce })
    // A tip and a base fee fifteen times as high: the lowest tip counts, and at most twice the lowest base fee.
    liar.set(async ({ method }, forward) => {
      if (method === 'eth_maxPriorityFeePerGas')
        return { result: `0x${(15n * BigInt(String(await forward()))).toString(16)}` }
      if (method !== 'eth_feeHistory') return undefined
      const history = (await forward()) as { baseFeePerGas: string[] }
      const high = history.baseFeePerGas.map((fee) => `0x${(15n * BigInt(fee)).toString(16)}`)
      return { result: { ...history, baseFeePerGas: high } }
    })
    const { maxFeePerGas = 0n, maxPriorityFeePerGas } = await price()
    const tip = present(honest.maxPriorityFeePerGas, 'the tip')
    expect(maxPriorityFeePerGas).toBe(tip)
    const honestBase = (present(honest.maxFeePerGas, 'the fee') - tip) / 2n
    expect(maxFeePerGas).toBe(2n * 2n * honestBase + tip)
    // A hundred times: which node is right cannot be known.
    liar.set(async ({ method }, forward) => {
      if (method !== 'eth_feeHistory') return undefined
      const history = (await forward()) as { baseFeePerGas: string[] }
      const high = history.baseFeePerGas.map((fee) => `0x${(100n * BigInt(fee)).toString(16)}`)
      return { result: { ...history, baseFeePerGas: high } }
    })
    expect((await refusal(stage.swaps({ rpcUrls: [stage.url, liar.url] }).prepare(built.order))).code).toBe(
      'NETWORK_UNAVAILABLE',
    )
    await liar.stop()
  }))

/** The node's answers as of an old block, with an old base fee. */
function stall(node: Awaited<ReturnType<typeof startFaultyNode>>, ageS: number, baseFeeDivisor: bigint) {
  node.set(async ({ method, params }, forward) => {
    if (method === 'eth_getTransactionCount') return { result: '0x0' }
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      const time = Math.floor(Date.now() / 1000) - ageS
      return { result: { ...((await forward()) as object), timestamp: `0x${time.toString(16)}` } }
    }
    if (method !== 'eth_feeHistory') return undefined
    const history = (await forward()) as { baseFeePerGas: string[] }
    const low = history.baseFeePerGas.map((fee) => `0x${(BigInt(fee) / baseFeeDivisor).toString(16)}`)
    return { result: { ...history, baseFeePerGas: low } }
  })
}

test('takes neither nonce nor fees from a node that does not follow the chain', async () =>
  isolated(async () => {
    await stage.ask('anvil_setNonce', [user.address, '0x5'])
    await stage.ask('evm_mine')
    const stalled = await startFaultyNode(stage.url)
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const honest = parseTransaction((await chain.prepare(built.order)).swap as Hex)
    // The approval has the nonce 5.
    expect(honest.nonce).toBe(6)
    // With a base fee thirty times as high since, the nodes would contradict each other, and every swap would be refused.
    for (const divisor of [3n, 30n])
      for (const rpcUrls of [
        [stage.url, stalled.url],
        [stalled.url, stage.url],
      ]) {
        stall(stalled, 3_600, divisor)
        const { swap } = await stage.swaps({ rpcUrls }).prepare(built.order)
        expect(parseTransaction(swap as Hex)).toMatchObject({
          nonce: honest.nonce,
          maxFeePerGas: honest.maxFeePerGas,
          maxPriorityFeePerGas: honest.maxPriorityFeePerGas,
        })
      }
    await stalled.stop()
  }))

test('waits for a second node that is a block behind, so that no nonce is used twice', async () =>
  isolated(async () => {
    await stage.ask('anvil_setNonce', [user.address, '0x5'])
    await stage.ask('evm_mine')
    const late = await startFaultyNode(stage.url)
    const built = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 9n * ether })
    const honest = parseTransaction((await chain.prepare(built.order)).swap as Hex)
    const untilMs = Date.now() + 1_200
    late.set(({ method }) =>
      method === 'eth_getTransactionCount' && Date.now() < untilMs ? { result: '0x0' } : undefined,
    )
    const { swap } = await stage.swaps({ rpcUrls: [stage.url, late.url] }).prepare(built.order)
    expect([honest.nonce, parseTransaction(swap as Hex).nonce]).toEqual([6, 6])
    await late.stop()
  }))

test("shows a token's custom error in hex", async () => {
  const odd = await compile(new URL('./odd-tokens.sol', import.meta.url).pathname)
  const grumpy = await stage.deploy(present(odd['Grumpy'], 'Grumpy'))
  const pool = { ...pools.ab2, tokens: pools.ab2.tokens.map((token) => (token === a ? grumpy : token)) } as Pool
  const built = stage.order([via(pool, grumpy)], { tokenIn: grumpy, tokenOut: b, amountIn: ether })
  const refused = await refusal(chain.prepare(built.order))
  // cast sig 'NotToday(uint256)', and 3.
  expect(refused.problems[0]).toMatchObject({
    code: 'SIMULATION_FAILED',
    reason: expect.stringMatching(/^0x[0-9a-f]{8}0{63}3$/),
  })
})

test('reads token metadata, also from non-standard tokens (B123)', async () => {
  const odd = await compile(new URL('./odd-tokens.sol', import.meta.url).pathname)
  const { StandardToken } = await testTokens()
  const facts = async (name: string) => chain.readToken(await stage.deploy(present(odd[name], name)))
  expect(await facts('Bytes32Token')).toEqual({ name: 'Maker', symbol: 'MKR', decimals: 18 })
  for (const name of ['Collection', 'Absurd', 'Looping', 'Mute']) expect(await facts(name)).toBeNull()
  expect(await facts('Endless')).toEqual({ name: 'END', symbol: 'END', decimals: 6 })
  expect(await facts('Garbled')).toEqual({ name: 'A', symbol: 'B', decimals: 6 })
  const unprintable = await stage.deploy(StandardToken, [
    `  Tab\tand \u202eline\n\u0000${'x'.repeat(500)}`,
    ' US\u200bD ',
    6,
  ])
  expect(await chain.readToken(unprintable)).toEqual({
    name: `Tab and line ${'x'.repeat(51)}`,
    symbol: 'USD',
    decimals: 6,
  })
  expect(await chain.readToken(stage.dex.owner.toLowerCase())).toBeNull()
  expect(await chain.readToken(chain.spender)).toBeNull()
  expect(await chain.readToken(stage.wrapped)).toMatchObject({ symbol: 'WETH', decimals: 18 })
  expect(await chain.readToken(native)).toMatchObject({ symbol: 'ETH', decimals: 18 })
})

test("D7: a call of 0x's AllowanceHolder must name a Settler of 0x's registry", () =>
  isolated(async () => {
    const holder = '0x0000000000001ff3684f28c67538d4d072c22734'
    const registry = '0x00000000000004533Fe15556B1E086BB1A72cEae'
    const [current, previous, evil] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}` as Hex) as [Hex, Hex, Hex]
    const exec = parseAbi([
      'function exec(address operator, address token, uint256 amount, address target, bytes data)',
    ])
    const callOf = (operator: Hex, token: string, target: Hex, spender: string | null = holder) => ({
      ...{ target: holder, spender },
      calldata: encodeFunctionData({ abi: exec, args: [operator, token as Hex, 5n, target, '0x1234'] }),
    })
    const isKnown = (call: { target: string; spender: string | null; calldata: string }) => chain.isKnownCall(call, a)
    // Without a registry nothing is known.
    expect(await isKnown(callOf(current, a, current))).toBe(false)
    const { SettlerRegistry } = await compile(new URL('./odd-tokens.sol', import.meta.url).pathname)
    const deployed = await stage.deploy(present(SettlerRegistry, 'SettlerRegistry'))
    await stage.ask('anvil_setCode', [registry, await stage.ask('eth_getCode', [deployed, 'latest'])])
    expect(await isKnown(callOf(current, a, current))).toBe(true)
    expect(await isKnown(callOf(previous, a, previous))).toBe(true)
    expect(await isKnown(callOf(evil, a, evil))).toBe(false)
    expect(await isKnown(callOf(evil, a, current))).toBe(false)
    expect(await isKnown(callOf(current, b, current))).toBe(false)
    // Native currency has neither operator nor token.
    expect(await isKnown(callOf(evil, native, current, null))).toBe(true)
    expect(await isKnown(callOf(current, native, evil, null))).toBe(false)
    // Another call of the holder is not decoded; a call of another router is that aggregator's own.
    expect(await isKnown({ target: holder, spender: holder, calldata: '0x12345678' })).toBe(false)
    expect(await isKnown({ target: evil, spender: evil, calldata: '0x12345678' })).toBe(true)
    expect(await isKnown({ ...callOf(evil, a, evil), target: evil })).toBe(false)
  }))

test('D5: a second node confirms the decimals of a token', async () => {
  const { StandardToken } = await testTokens()
  const token = await stage.deploy(StandardToken, ['Token', 'TOK', 6])
  const liar = await startFaultyNode(stage.url)
  const six = `0x${'6'.padStart(64, '0')}`
  liar.set(async ({ method }, forward) => {
    if (method !== 'eth_call') return undefined
    const answer = await forward()
    return answer === six ? { result: `0x${'12'.padStart(64, '0')}` } : undefined
  })
  const own = stage.swaps({ rpcUrls: [liar.url, stage.url] })
  expect((await refusal(own.readToken(token))).code).toBe('NETWORK_UNAVAILABLE')
  liar.set(() => ({ status: 500 }))
  expect(await own.readToken(token)).toMatchObject({ decimals: 6 })
  await liar.stop()
})

function encodeMint(args: readonly unknown[]): Hex {
  return encodeFunctionData({
    abi: parseAbi(['function mint(address, uint256)']),
    functionName: 'mint',
    args: args as never,
  })
}
