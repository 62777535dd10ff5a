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
  test.each(sandboxRouting(chains.networks).map((one) => [one.dexNetwork.network, one] as const))(
    '%s: LEVY takes a hundredth, nothing else does, and no route leads through it',
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
      const told = chains.networks.find(({ network }) => network === name)?.defiTokens ?? []
      const levy = told.find(({ symbol }) => symbol === 'LEVY')?.address.toLowerCase() ?? ''
      if (at === null) throw new Error('no pools')
      // As such counts the contract of the coin, too.
      expect([...at.taxed]).toEqual([network.evm?.nativeContract, levy].filter((one) => one !== undefined))
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

describe('a token whose owner changes it', () => {
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

  /** A fresh token, held by two pools, and who looks at it with a clock of his own. */
  async function stage() {
    const token = (await anvil.deploy(compiled, [])).toLowerCase()
    const clock = { ms: 0 }
    const tell = (functionName: string, ...args: readonly unknown[]) =>
      anvil.sendAndMine({ to: token, data: encodeFunctionData({ abi: compiled.abi, functionName, args: [...args] }) })
    await tell('mint', rich, 10n ** 24n)
    await tell('mint', dust, 1n)
    const pools = (...addresses: readonly string[]) => addresses.map((address) => poolAt(address, token))
    const rpc = createRpc('eth node 1', node.url, TEST_CHAIN_ID, { ...rpcDefaults, attempts: 1 })
    const tokens = createFeeOnTransferTokens(
      () => rpc,
      wrapped,
      () => clock.ms,
    )
    return { token, clock, tell, pools, tokens }
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

  test('is looked at again after an hour, and its pools are not known before the first look', async () => {
    node.set(() => undefined)
    const { token, clock, tell, pools, tokens } = await stage()
    const all = pools(rich)
    expect(tokens.known(all)).toEqual([])
    await tokens.look(all)
    expect(tokens.known(all)).toBe(all)
    expect([...tokens.taxed()]).toEqual([])

    await tell('setTransferFee', 100)
    clock.ms += HOUR_MS - 1
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([])
    clock.ms += 1
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([token])

    // Nothing moves: what was told stands.
    await tell('setReturnMode', 2)
    clock.ms += HOUR_MS
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([token])
    await tell('setReturnMode', 1)
    await tell('setTransferFee', 0)
    clock.ms += HOUR_MS
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([])
  })

  test('is measured where more of it is held', async () => {
    node.set(() => undefined)
    const { token, tell, pools, tokens } = await stage()
    await tell('setTransferFee', 10_000)
    const all = pools(dust, rich)
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([token])
  })

  test('counts as plain where the node takes no overrides; a node that is away tells nothing', async () => {
    const { tell, pools, tokens, token, clock } = await stage()
    await tell('setTransferFee', 10_000)
    const all = pools(rich)
    node.set(({ method }) => (method === 'eth_call' ? { status: 503 } : undefined))
    await expect(tokens.look(all)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    expect(tokens.known(all)).toEqual([])
    const refusal = { error: { code: -32_602, message: 'too many arguments, want at most 2' } }
    node.set(({ params }) => ((params as Hex[]).length > 2 ? refusal : undefined))
    await tokens.look(all)
    expect(tokens.known(all)).toBe(all)
    expect([...tokens.taxed()]).toEqual([])
    node.set(() => undefined)
    clock.ms += HOUR_MS
    await tokens.look(all)
    expect([...tokens.taxed()]).toEqual([token])
  })
})
