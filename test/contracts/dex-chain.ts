import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import {
  type Abi,
  concatHex,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
} from 'viem'
import { foundry } from 'viem/chains'
import { type Venue, venueCode } from '../../contracts/scripts/venues.ts'
import type { UniswapV2Pool } from '../../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../../server/src/swap/routing/pools/uniswap-v3.ts'
import type { UniswapV4Pool } from '../../server/src/swap/routing/pools/uniswap-v4.ts'

// A local chain with our router and executor and Uniswap's published contracts, on which tests create and read pools.

const chainAbi = parseAbi([
  'function approve(address, uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address, uint256)',
  'function deposit() payable',
  'function createPair(address, address)',
  'function getPair(address, address) view returns (address)',
  'function mint(address)',
  'function sync()',
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function createAndInitializePoolIfNecessary(address, address, uint24, uint160) returns (address)',
  'function getPool(address, address, uint24) view returns (address)',
  'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)',
  'function liquidity() view returns (uint128)',
  'struct Key { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'struct Change { int24 tickLower; int24 tickUpper; int256 liquidityDelta; bytes32 salt; }',
  'function initialize(Key, uint160)',
  'function modifyLiquidity(Key, Change, bytes) payable',
])

/** Separate from `chainAbi`, which contains the `mint` of pairs. */
const positionsAbi = parseAbi([
  'struct Position { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
  'function mint(Position)',
])

/** One unit of a token with 18 decimals. */
export const ether = 10n ** 18n
/** A deadline in the far future, in Unix seconds. */
export const farDeadline = 2n ** 40n
/** The price 1 as `sqrtPriceX96`. */
const priceOne = 2n ** 96n

/** A node that mines each transaction at once, with funded accounts and the deployment proxy. */
export type DexNode = Readonly<{ url: string; stop(): Promise<void> }>

async function startAnvil(): Promise<DexNode> {
  const require = createRequire(import.meta.url)
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const program = require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)
  const child = spawn(program, ['--port', '0', '--hardfork', 'cancun', '--balance', '1000000000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const listening = /Listening on (\S+)/.exec(line)
    if (listening) {
      child.stdout.resume()
      return {
        url: `http://${listening[1]}`,
        async stop() {
          child.kill()
          if (child.exitCode === null) await once(child, 'exit')
        },
      }
    }
  }
  throw new Error('anvil exited before it listened')
}

export async function startDexChain(startNode: () => Promise<DexNode> = startAnvil) {
  const { url, stop } = await startNode()
  const transport = http(url)
  const reader = createPublicClient({ chain: foundry, transport, pollingInterval: 20 })
  const wallet = createWalletClient({ chain: foundry, transport })
  const [owner, user, recipient, partner] = (await wallet.getAddresses()) as [Hex, Hex, Hex, Hex]

  async function send(from: Hex, to: Hex | null, calldata: Hex, value = 0n) {
    const hash = await wallet.sendTransaction({ account: from, to, data: calldata, value, gas: 25_000_000n })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`the transaction to ${to} reverted`)
    return receipt
  }
  async function deploy(venue: Venue, parameters: Hex = '0x'): Promise<Hex> {
    const { contractAddress } = await send(owner, null, concatHex([venueCode(venue), parameters]))
    return contractAddress as Hex
  }
  async function write(from: Hex, address: Hex, functionName: string, args: readonly unknown[], value = 0n) {
    const abi: Abi = typeof args[0] === 'object' && functionName === 'mint' ? positionsAbi : chainAbi
    const hash = await wallet.writeContract({
      account: from,
      address,
      abi,
      functionName,
      args,
      value,
      gas: 25_000_000n,
    })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`${functionName} of ${address} reverted`)
    return receipt
  }
  const read = async <T>(address: Hex, functionName: string, args: readonly unknown[] = []) =>
    (await reader.readContract({ address, abi: chainAbi as Abi, functionName, args })) as T

  for (const { data } of [swapRouter, swapExecutor]) await send(owner, deploymentProxy, data)
  const encodeParameters = (text: string, ...values: unknown[]) =>
    encodeAbiParameters(parseAbiParameters(text), values as never)
  const wrapped = await deploy('wrapped')
  await write(owner, wrapped, 'deposit', [], 1_000_000n * ether)
  const supply = encodeParameters('uint256', 10n ** 30n)
  const tokens = [await deploy('token', supply), await deploy('token', supply), await deploy('token', supply)] as const
  const v2 = await deploy('uniswapV2Factory', encodeParameters('address', zeroAddress))
  const v3 = await deploy('uniswapV3Factory')
  const positions = await deploy(
    'uniswapV3Positions',
    encodeParameters('address, address, address', v3, wrapped, zeroAddress),
  )
  const v4 = await deploy('uniswapV4Manager', encodeParameters('address', owner))
  const v4Liquidity = await deploy('uniswapV4Liquidity', encodeParameters('address', v4))
  const swapRouter02 = await deploy(
    'swapRouter02',
    encodeParameters('address, address, address, address', v2, v3, positions, wrapped),
  )
  for (const token of [...tokens, wrapped])
    for (const spender of [positions, v4Liquidity]) await write(owner, token, 'approve', [spender, 2n ** 255n])

  const sorted = (a: Hex, b: Hex): [Hex, Hex] => (a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a])
  const lower = (...list: readonly Hex[]) => list.map((address) => address.toLowerCase())

  async function makeV2(a: Hex, b: Hex, amountA: bigint, amountB: bigint): Promise<UniswapV2Pool> {
    await write(owner, v2, 'createPair', [a, b])
    const pair = await read<Hex>(v2, 'getPair', [a, b])
    await write(owner, a, 'transfer', [pair, amountA])
    await write(owner, b, 'transfer', [pair, amountB])
    await write(owner, pair, 'mint', [owner])
    const [reserve0, reserve1] = await read<[bigint, bigint]>(pair, 'getReserves')
    const address = pair.toLowerCase()
    const identity = { id: address, address, dex: 'uniswap-v2', tokens: lower(...sorted(a, b)) }
    return { ...identity, kind: 'uniswap-v2', reserves: [reserve0, reserve1], feePpm: 3000 }
  }

  async function makeV3(a: Hex, b: Hex, feePpm: number, tickSpacing: number, width: number): Promise<UniswapV3Pool> {
    const [token0, token1] = sorted(a, b)
    await write(owner, positions, 'createAndInitializePoolIfNecessary', [token0, token1, feePpm, priceOne])
    const pool = await read<Hex>(v3, 'getPool', [token0, token1, feePpm])
    const amounts = { amount0Desired: 50_000n * ether, amount1Desired: 50_000n * ether, amount0Min: 0n, amount1Min: 0n }
    const range = { tickLower: -width, tickUpper: width, recipient: owner, deadline: farDeadline }
    await write(owner, positions, 'mint', [{ token0, token1, fee: feePpm, ...range, ...amounts }])
    const [sqrtPrice, tick] = await read<[bigint, number]>(pool, 'slot0')
    const liquidity = await read<bigint>(pool, 'liquidity')
    const ticks = [
      { index: -width, net: liquidity },
      { index: width, net: -liquidity },
    ]
    const address = pool.toLowerCase()
    const identity = { id: address, address, dex: 'uniswap-v3', tokens: lower(token0, token1) }
    return { ...identity, kind: 'uniswap-v3', sqrtPrice, tick, liquidity, tickSpacing, ticks, feePpm }
  }

  /** `a`: null = the native coin. */
  async function makeV4(a: Hex | null, b: Hex, lpFeePpm: number, tickSpacing: number): Promise<UniswapV4Pool> {
    const [currency0, currency1] = a === null ? [zeroAddress, b] : sorted(a, b)
    const key = { currency0, currency1, fee: lpFeePpm, tickSpacing, hooks: zeroAddress }
    const width = 50 * tickSpacing
    const liquidity = 400_000n * ether
    await write(owner, v4, 'initialize', [key, priceOne])
    const change = { tickLower: -width, tickUpper: width, liquidityDelta: liquidity, salt: `0x${'0'.repeat(64)}` }
    await write(owner, v4Liquidity, 'modifyLiquidity', [key, change, '0x'], a === null ? 100_000n * ether : 0n)
    const ticks = [
      { index: -width, net: liquidity },
      { index: width, net: -liquidity },
    ]
    const pair = a === null ? lower(wrapped, b) : lower(currency0, currency1)
    const identity = { id: `v4 ${pair} ${lpFeePpm}`, address: v4.toLowerCase(), dex: 'uniswap-v4', tokens: pair }
    const native = a === null
    const fees = { lpFeePpm, protocolFeePpm: [0, 0] as const }
    return {
      ...identity,
      kind: 'uniswap-v4',
      native,
      sqrtPrice: priceOne,
      tick: 0,
      liquidity,
      tickSpacing,
      ticks,
      ...fees,
    }
  }

  const balanceOf = (token: Hex | null, of: Hex) =>
    token === null ? reader.getBalance({ address: of }) : read<bigint>(token, 'balanceOf', [of])

  const accounts = { owner, user, recipient, partner }
  const factories = { v2, v3, v4, positions }
  return {
    ...accounts,
    url,
    factories,
    reader,
    wrapped,
    tokens,
    swapRouter02,
    send,
    deploy,
    write,
    makeV2,
    makeV3,
    makeV4,
    balanceOf,
    stop,
  }
}

export type DexChain = Awaited<ReturnType<typeof startDexChain>>
