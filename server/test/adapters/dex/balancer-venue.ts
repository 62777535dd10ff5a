import { join } from 'node:path'
import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import {
  type Abi,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseAbi,
} from 'viem'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import { artifact } from '../../swap/routing/differential/chain.ts'
import { type Anvil, hex, startAnvil } from '../chains/evm/anvil.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'

const published = (task: string, name: string) =>
  artifact('@balancer-labs/v2-deployments', `dist/tasks/${task}/artifact/${name}.json`)
const contracts = {
  vault: published('20210418-vault', 'Vault'),
  fees: published('20220725-protocol-fee-percentages-provider', 'ProtocolFeePercentagesProvider'),
  oracle: published('deprecated/20210727-meta-stable-pool', 'QueryProcessor'),
  stable2021: published('deprecated/20210624-stable-pool', 'StablePoolFactory'),
  metaStable: published('deprecated/20210727-meta-stable-pool', 'MetaStablePoolFactory'),
  stable2022: published('20220609-stable-pool-v2', 'StablePoolFactory'),
  composable: published('20230206-composable-stable-pool-v3', 'ComposableStablePoolFactory'),
  weighted: published('20230206-weighted-pool-v3', 'WeightedPoolFactory'),
}
const poolAbi = published('20230206-composable-stable-pool-v3', 'ComposableStablePool').abi
/** Meta-stable pools. */
const metaAbi = parseAbi(['function updatePriceRateCache(address token)'])
const abi: Abi = [...contracts.vault.abi, ...poolAbi, ...metaAbi]

const GAS = 16_000_000n
const OPTIONS = ['--gas-limit', '400000000', '--hardfork', 'cancun', '--code-size-limit', '100000']
const MOST = 2n ** 256n - 1n
const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Hex
export const ONE = 10n ** 18n

export type VenuePool = Readonly<{ id: Hex; address: Hex; isMeta: boolean; isComposable: boolean }>

/** Balancer's published V2 vault with pools of every stable kind, our router, and the owner's account. */
export async function startBalancer() {
  const anvil = await startAnvil(OPTIONS)
  const me = (anvil.accounts[0] ?? '') as Hex
  const made = await compile(join(import.meta.dirname, '../../swap/routing/differential/harness.sol'))
  const own = await compile(join(import.meta.dirname, 'rates.sol'))
  const token = made['Token'] as Compiled
  const provider = own['RateProvider'] as Compiled

  const deploy = async (compiled: Compiled, args: readonly unknown[] = []): Promise<Hex> => {
    const data = encodeDeployData({ ...compiled, args: [...args] })
    const { txHash } = await anvil.sendAndMine({ data, gas: GAS })
    return (await receiptOf(anvil, txHash)).contractAddress.toLowerCase() as Hex
  }
  for (const { data } of [swapRouter, swapExecutor]) await anvil.sendAndMine({ to: deploymentProxy, data, gas: GAS })
  const vault = await deploy(contracts.vault, [
    await deploy(own['AllowAllAuthorizer'] as Compiled),
    me,
    7_000_000n,
    2_000_000n,
  ])
  const fees = await deploy(contracts.fees, [vault, ONE, ONE])
  const oracle = await deploy(contracts.oracle)
  const linked = contracts.metaStable.bytecode.replaceAll(/__\$[0-9a-f]{34}\$__/g, oracle.slice(2)) as Hex
  const factories = {
    stable2021: await deploy(contracts.stable2021, [vault]),
    metaStable: await deploy({ ...contracts.metaStable, bytecode: linked }, [vault]),
    stable2022: await deploy(contracts.stable2022, [vault]),
    composable: await deploy(contracts.composable, [vault, fees, '', '']),
    weighted: await deploy(contracts.weighted, [vault, fees, '', '']),
  }
  const tokens: Hex[] = []
  for (let count = 0; count < 4; count++) tokens.push(await deploy(token))
  tokens.sort()
  const decimals = [18, 6, 18, 8]
  for (const [place, to] of tokens.entries())
    await sendAll(anvil, to, token.abi, [
      ['setDecimals', [decimals[place]]],
      ['approve', [vault, MOST]],
      ['approve', [swapRouter.address, MOST]],
    ])
  const providers = [await deploy(provider), await deploy(provider)]

  /** Creates a pool with `whole` units of each token. */
  async function create(factory: keyof typeof factories, args: readonly unknown[], whole: bigint): Promise<VenuePool> {
    const data = encodeFunctionData({
      abi: contracts[factory].abi,
      functionName: 'create',
      args: ['pool', 'POOL', ...args],
    })
    const { txHash } = await anvil.sendAndMine({ to: factories[factory], data, gas: GAS })
    const { logs } = await receiptOf(anvil, txHash)
    const created = logs.find(({ address }) => address.toLowerCase() === factories[factory])
    const address = `0x${(created?.topics[1] ?? '').slice(26)}` as Hex
    const id = await read<Hex>(address, 'getPoolId')
    const pool = { id, address, isMeta: factory === 'metaStable', isComposable: factory === 'composable' }
    const amounts = (await tokensOf(pool)).map((one) => whole * 10n ** BigInt(decimals[tokens.indexOf(one)] ?? 0))
    await joinPool(pool, 0n, amounts)
    await anvil.mine()
    return pool
  }
  /** The tradable tokens, without the pool token. */
  async function tokensOf({ id, address }: VenuePool): Promise<readonly Hex[]> {
    const [held] = await read<readonly [readonly Hex[]]>(vault, 'getPoolTokens', [id])
    return held.map((one) => one.toLowerCase() as Hex).filter((one) => one !== address.toLowerCase())
  }
  /** Kind 0 is the initial join, 1 a join with exact amounts. */
  async function joinPool(pool: VenuePool, kind: bigint, amounts: readonly bigint[]): Promise<void> {
    const [assets] = await read<readonly [readonly Hex[]]>(vault, 'getPoolTokens', [pool.id])
    const isOwn = (one: Hex) => one.toLowerCase() === pool.address.toLowerCase()
    let place = 0
    // Composable pools include the pool token only in the initial join.
    const all = assets.flatMap((one) => (isOwn(one) ? (kind === 0n ? [0n] : []) : [amounts[place++] ?? 0n]))
    const words = [kind, all, ...(kind === 1n ? [0n] : [])]
    const types = ['uint256', 'uint256[]', 'uint256'].slice(0, words.length).map((type) => ({ type }))
    const request = {
      assets,
      maxAmountsIn: assets.map(() => MOST),
      userData: encodeAbiParameters(types, words),
      fromInternalBalance: false,
    }
    await act(vault, 'joinPool', [pool.id, me, me, request])
  }
  const act = (to: Hex, functionName: string, args: readonly unknown[] = []) =>
    anvil.send({ to, data: encodeFunctionData({ abi, functionName, args: [...args] }), gas: 4_000_000n })
  /** Reads after the newest block, with its timestamp. */
  async function read<T>(to: Hex, functionName: string, args: readonly unknown[] = []): Promise<T> {
    const { hash } = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
    const data = encodeFunctionData({ abi, functionName, args: [...args] })
    const answer = await anvil.request<Hex>('eth_call', [{ to, data, gas: hex(GAS) }, { blockHash: hash }])
    return decodeFunctionResult({ abi, functionName, data: answer }) as T
  }
  const shared = { vault, deployedAt: 0 }
  const dexes: readonly Dex[] = [
    { ...shared, name: 'stable-2021', kind: 'balancer-stable', factory: factories.stable2021, rounding: 'up' },
    { ...shared, name: 'meta-stable', kind: 'balancer-stable', factory: factories.metaStable, rounding: 'up' },
    { ...shared, name: 'stable-2022', kind: 'balancer-stable', factory: factories.stable2022, rounding: 'down' },
    { ...shared, name: 'composable', kind: 'balancer-stable', factory: factories.composable, rounding: 'down' },
    { ...shared, name: 'weighted', kind: 'balancer-weighted', factory: factories.weighted },
  ]
  return {
    ...{ anvil, me, vault, tokens, providers, dexes, create, tokensOf, act, read },
    join: (pool: VenuePool, amounts: readonly bigint[]) => joinPool(pool, 1n, amounts),
    swap(pool: VenuePool, [assetIn, assetOut]: readonly [Hex, Hex], amount: bigint) {
      const single = { poolId: pool.id, kind: 0, assetIn, assetOut, amount, userData: '0x' }
      const funds = { sender: me, fromInternalBalance: false, recipient: me, toInternalBalance: false }
      return act(vault, 'swap', [single, funds, 0n, MOST])
    },
    setRate: (place: number, rate: bigint) =>
      anvil.send({
        to: providers[place] ?? ZERO_ADDRESS,
        data: encodeFunctionData({ abi: provider.abi, functionName: 'set', args: [rate] }),
      }),
    balanceOf: async (of: Hex): Promise<bigint> => {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'balanceOf', args: [me] })
      return BigInt(await anvil.request<Hex>('eth_call', [{ to: of, data }, 'latest']))
    },
  }
}
export type Balancer = Awaited<ReturnType<typeof startBalancer>>

type Receipt = Readonly<{
  status: Hex
  contractAddress: Hex
  logs: readonly Readonly<{ address: Hex; topics: readonly Hex[] }>[]
}>

export async function receiptOf(anvil: Anvil, txHash: string): Promise<Receipt> {
  const receipt = await anvil.request<Receipt>('eth_getTransactionReceipt', [txHash])
  if (receipt.status !== '0x1') throw new Error(`${txHash} reverted`)
  return receipt
}

async function sendAll(anvil: Anvil, to: Hex, abi: Abi, calls: readonly (readonly [string, readonly unknown[]])[]) {
  for (const [functionName, args] of calls)
    await anvil.send({ to, data: encodeFunctionData({ abi, functionName, args: [...args] }) })
  await anvil.mine()
}
