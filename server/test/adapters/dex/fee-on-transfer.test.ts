import { readFileSync } from 'node:fs'
import { encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { networks as definitions } from '../../../networks/index.ts'
import { createRpc, rpcDefaults } from '../../../src/adapters/chains/evm/rpc.ts'
import { createFeeOnTransferTokens } from '../../../src/adapters/dex/fee-on-transfer.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import { sandboxRouting } from '../../../src/app/router.ts'
import type { ChainsFile } from '../../../src/app/sandbox-chains.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { type Anvil, startAnvil, TEST_CHAIN_ID } from '../chains/evm/anvil.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'
import { type FaultyNode, startFaultyNode } from '../chains/evm/faulty-node.ts'

const HOUR_MS = 60 * 60_000
const log = createLog({ level: 'warn', pretty: true })
const chains = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile

describe('on the networks of the sandbox', () => {
  const evm = chains.networks.filter(({ family }) => family === 'evm')
  test.each(sandboxRouting(evm).map((one) => [one.dexNetwork.network, one] as const))(
    '%s: LEVY is the only token with a fee on transfer, and no route uses it',
    async (name, routed) => {
      const definition = definitions.find(({ id }) => id === name)
      if (definition === undefined) throw new Error(`no network ${name}`)
      const network = resolveNetwork(definition, 'sandbox')
      const source = createNetworkPools({
        ...routed,
        network,
        snapshots: { load: async () => null, save: async () => undefined },
        log,
      })
      while (source.current() === null) await source.advance()
      const at = source.current()
      const defiTokens = chains.networks.find(({ network }) => network === name)?.defiTokens ?? []
      const levy = defiTokens.find(({ symbol }) => symbol === 'LEVY')?.address.toLowerCase() ?? ''
      if (at === null) throw new Error('no pools')
      // The native token contract counts as fee-on-transfer, too.
      expect([...at.refusedTokens.keys()]).toEqual(
        [network.evm?.nativeContract, levy].filter((one) => one !== undefined),
      )
      expect(at.pools.some(({ tokens }) => tokens.includes(levy))).toBe(true)
      expect([source.liquidity().has(at.wrapped), source.liquidity().has(levy)]).toEqual([true, false])

      const find = createRouteFinder({ budgetMs: 1_000 })
      const order = { network: name, tokenIn: at.wrapped, tokenOut: levy, amountIn: 10n ** 18n }
      const refused = { code: 'NO_ROUTE', message: expect.stringContaining(`${levy} takes a fee on transfer`) }
      expect(() => find(at, order)).toThrowError(expect.objectContaining(refused))
      expect(() => find(at, { ...order, tokenIn: levy, tokenOut: at.wrapped })).toThrowError(
        expect.objectContaining(refused),
      )
      for (const tokenOut of new Set(at.pools.flatMap(({ tokens }) => tokens))) {
        if (tokenOut === levy || tokenOut === at.wrapped) continue
        const { swaps } = find(at, { ...order, tokenOut })
        expect(swaps.some(({ pool }) => pool.tokens.includes(levy))).toBe(false)
      }
    },
  )
})

describe('a token whose owner changes the fee', () => {
  const wrapped = `0x${'ee'.repeat(20)}`
  const [rich, dust] = [`0x${'a1'.repeat(20)}`, `0x${'a2'.repeat(20)}`]
  let anvil: Anvil
  let node: FaultyNode
  let compiled: Compiled
  beforeAll(async () => {
    anvil = await startAnvil()
    node = await startFaultyNode(anvil.url)
    const path = new URL('../../../../contracts/test/tokens/TestToken.sol', import.meta.url).pathname
    compiled = (await compile(path))['TestToken'] as Compiled
  })
  afterAll(async () => {
    await node?.stop()
    await anvil?.stop()
  })

  /** A new token held by two pools, and a checker with its own clock. */
  async function setUpToken() {
    const token = (await anvil.deploy(compiled, [])).toLowerCase()
    const clock = { ms: 0 }
    const callToken = (functionName: string, ...args: readonly unknown[]) =>
      anvil.sendAndMine({ to: token, data: encodeFunctionData({ abi: compiled.abi, functionName, args: [...args] }) })
    await callToken('mint', rich, 10n ** 24n)
    await callToken('mint', dust, 1n)
    const pools = (...addresses: readonly string[]) => addresses.map((address) => poolAt(address, token))
    const rpc = createRpc('eth node 1', node.url, TEST_CHAIN_ID, { ...rpcDefaults, attempts: 1 })
    const tokens = createFeeOnTransferTokens(
      () => rpc,
      wrapped,
      () => clock.ms,
    )
    return { token, clock, callToken, pools, tokens }
  }
  const poolAt = (address: string, token: string): Pool => ({
    kind: 'uniswap-v2',
    id: address,
    address,
    dex: 'dex',
    tokens: [token, wrapped],
    reserves: [1n, 1n],
    feePpm: 3_000,
  })

  test('is checked again after an hour, and its pools are withheld until the first check', async () => {
    node.set(() => undefined)
    const { token, clock, callToken, pools, tokens } = await setUpToken()
    const all = pools(rich)
    expect(tokens.poolsWithCheckedTokens(all)).toEqual([])
    await tokens.check(all)
    expect(tokens.poolsWithCheckedTokens(all)).toBe(all)
    expect([...tokens.feeOnTransfer()]).toEqual([])

    await callToken('setTransferFee', 100)
    clock.ms += HOUR_MS - 1
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([])
    clock.ms += 1
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([token])

    // The transfer fails, so the previous verdict stays.
    await callToken('setReturnMode', 2)
    clock.ms += HOUR_MS
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([token])
    await callToken('setReturnMode', 1)
    await callToken('setTransferFee', 0)
    clock.ms += HOUR_MS
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([])
  })

  test('is measured at a pool that holds enough of it', async () => {
    node.set(() => undefined)
    const { token, callToken, pools, tokens } = await setUpToken()
    await callToken('setTransferFee', 10_000)
    const all = pools(dust, rich)
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([token])
  })

  test('counts as plain if the node supports no state overrides; stays unchecked if the node does not answer', async () => {
    const { callToken, pools, tokens, token, clock } = await setUpToken()
    await callToken('setTransferFee', 10_000)
    const all = pools(rich)
    node.set(({ method }) => (method === 'eth_call' ? { status: 503 } : undefined))
    await expect(tokens.check(all)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    expect(tokens.poolsWithCheckedTokens(all)).toEqual([])
    const refusal = { error: { code: -32_602, message: 'too many arguments, want at most 2' } }
    node.set(({ params }) => ((params as Hex[]).length > 2 ? refusal : undefined))
    await tokens.check(all)
    expect(tokens.poolsWithCheckedTokens(all)).toBe(all)
    expect([...tokens.feeOnTransfer()]).toEqual([])
    node.set(() => undefined)
    clock.ms += HOUR_MS
    await tokens.check(all)
    expect([...tokens.feeOnTransfer()]).toEqual([token])
  })
})
