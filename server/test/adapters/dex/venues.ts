import { type Abi, decodeFunctionResult, encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import { type Artifact, artifact } from '../../swap/routing/differential/chain.ts'
import { hex, startAnvil } from '../chains/evm/anvil.ts'
import type { TestNode } from '../chains/evm/test-node.ts'

const uniswap = (name: string, path: string) => artifact(`@uniswap/${name}`, path)
const v3 = (name: string) => uniswap('v3-periphery', `artifacts/contracts/${name}.sol/${name.split('/').at(-1)}.json`)
const v4 = (name: string) => uniswap('v4-core', `out/${name}.sol/${name}.json`)
const artifacts = {
  token: uniswap('v2-core', 'build/ERC20.json'),
  weth: uniswap('v2-periphery', 'build/WETH9.json'),
  v2Factory: uniswap('v2-core', 'build/UniswapV2Factory.json'),
  v2Router: uniswap('v2-periphery', 'build/UniswapV2Router02.json'),
  v2Pair: uniswap('v2-core', 'build/UniswapV2Pair.json'),
  v3Factory: uniswap('v3-core', 'artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
  v3Pool: uniswap('v3-core', 'artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json'),
  positions: v3('NonfungiblePositionManager'),
  v3Router: v3('SwapRouter'),
  quoter: v3('lens/QuoterV2'),
  v4Core: v4('PoolManager'),
  v4Liquidity: v4('PoolModifyLiquidityTest'),
  v4Swap: v4('PoolSwapTest'),
  stateView: uniswap('v4-periphery', 'foundry-out/StateView.sol/StateView.json'),
  v4Quoter: uniswap('v4-periphery', 'foundry-out/V4Quoter.sol/V4Quoter.json'),
}
export type Contract = keyof typeof artifacts
export const artifactOf = (name: Contract): Artifact => artifacts[name]

const GAS = 12_000_000n
/** Code that emits its calldata as a log: the first three words are topics (CALLDATACOPY, LOG3). */
const FORGER = '0x601780600b6000396000f3604035602035600035606036038060606000376000a300'
const OPTIONS = [
  '--gas-limit',
  '400000000',
  '--hardfork',
  'cancun',
  '--code-size-limit',
  '100000',
  '--balance',
  '1000000000',
]
export const ACCOUNT_SHARE = 10n ** 30n

/** A node with Uniswap's three published versions, and approved tokens. */
export type Venues = Readonly<{
  anvil: TestNode
  address: Readonly<Record<Contract, Hex>>
  /** The wrapped native token and three others, sorted by address. */
  tokens: readonly Hex[]
  me: Hex
  dexes: readonly Dex[]
  /** Sends a transaction to the mempool. */
  act(contract: Contract, functionName: string, args: readonly unknown[], value?: bigint): Promise<string>
  read<T>(to: Hex, contract: Contract, functionName: string, args?: readonly unknown[]): Promise<T>
  /** Emits a log of another contract: three topics and the data. */
  forge(topics: readonly Hex[], rest: Hex): Promise<void>
  /** Mines the pending transactions and returns the block height. */
  mine(): Promise<number>
}>

export async function startVenues(start: () => Promise<TestNode> = () => startAnvil(OPTIONS)): Promise<Venues> {
  const anvil = await start()
  const me = (anvil.accounts[0] ?? '') as Hex
  const address = {} as Record<Contract, Hex>
  const send = (to: Hex | undefined, data: Hex, value = 0n) => anvil.send({ to, data, value, gas: GAS, from: me })
  const create = async (name: Contract, args: readonly unknown[]): Promise<Hex> => {
    const { abi, bytecode } = artifactOf(name)
    const hash = await send(undefined, encodeDeployData({ abi, bytecode, args: [...args] }))
    await anvil.mine()
    const receipt = await anvil.request<{ status: Hex; contractAddress: Hex }>('eth_getTransactionReceipt', [hash])
    if (receipt.status !== '0x1') throw new Error(`${name} was not deployed`)
    return receipt.contractAddress
  }
  address.weth = await create('weth', [])
  address.v2Factory = await create('v2Factory', [me])
  address.v2Router = await create('v2Router', [address.v2Factory, address.weth])
  address.v3Factory = await create('v3Factory', [])
  address.positions = await create('positions', [address.v3Factory, address.weth, zeroAddress])
  address.v3Router = await create('v3Router', [address.v3Factory, address.weth])
  address.quoter = await create('quoter', [address.v3Factory, address.weth])
  address.v4Core = await create('v4Core', [me])
  address.v4Liquidity = await create('v4Liquidity', [address.v4Core])
  address.v4Swap = await create('v4Swap', [address.v4Core])
  address.stateView = await create('stateView', [address.v4Core])
  address.v4Quoter = await create('v4Quoter', [address.v4Core])
  const tokens = [address.weth]
  for (let count = 0; count < 3; count++) tokens.push(await create('token', [ACCOUNT_SHARE]))
  const act: Venues['act'] = (contract, functionName, args, value) =>
    send(address[contract], encodeFunctionData({ abi: artifactOf(contract).abi, functionName, args: [...args] }), value)
  await act('weth', 'deposit', [], 10n ** 26n)
  for (const token of tokens)
    for (const spender of ['v2Router', 'positions', 'v3Router', 'v4Liquidity', 'v4Swap'] as const)
      await send(
        token,
        encodeFunctionData({
          abi: artifactOf('token').abi,
          functionName: 'approve',
          args: [address[spender], 2n ** 256n - 1n],
        }),
      )
  await anvil.mine()
  const forgery = await send(undefined, FORGER)
  await anvil.mine()
  const forger = (await anvil.request<{ contractAddress: Hex }>('eth_getTransactionReceipt', [forgery])).contractAddress
  const shared = { deployedAt: 0 }
  return {
    anvil,
    address,
    tokens: tokens.map((token) => token.toLowerCase() as Hex).sort(),
    me,
    dexes: [
      { ...shared, name: 'v2', kind: 'uniswap-v2', factory: address.v2Factory, feePpm: 3_000 },
      { ...shared, name: 'v3', kind: 'uniswap-v3', factory: address.v3Factory },
      { ...shared, name: 'v4', kind: 'uniswap-v4', factory: address.v4Core },
    ],
    act,
    async read<T>(to: Hex, contract: Contract, functionName: string, args: readonly unknown[] = []) {
      const abi: Abi = artifactOf(contract).abi
      const data = encodeFunctionData({ abi, functionName, args: [...args] })
      const answer = await anvil.request<Hex>('eth_call', [{ to, data, from: me, gas: hex(GAS) }, 'latest'])
      return decodeFunctionResult({ abi, functionName, data: answer }) as T
    },
    async forge(topics, rest) {
      await send(forger, `0x${[...topics, rest].map((part) => part.slice(2)).join('')}`)
    },
    mine: () => anvil.mine(),
  }
}
