import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import {
  createPublicClient,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  parseAbi,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { until } from '../../test/support/until.ts'
import { evmBankAddress, evmTraderAddress } from '../src/keys.ts'
import type { Market, MarketPool } from '../src/market/snapshot.ts'
import { evmNetworks } from '../src/networks.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from './running-sandbox.ts'

const networks = evmNetworks.map(({ network }) => network)
const folder = temporaryFolder()
let sandbox: RunningSandbox

beforeAll(async () => {
  sandbox = await runSandbox(folder.path, networks.join(','))
  console.log(`first start of twelve networks with markets: ${sandbox.startMs} ms`)
})
afterAll(async () => {
  await sandbox?.stop()
  folder.remove()
})

type ChainRecord = Omit<Market, 'trader' | 'pools'> & {
  network: string
  rpcUrls: string[]
  tokens: { [ticker: string]: Hex }
}
const recordOf = (network: string) =>
  sandbox.chains.networks.find((one) => one.network === network) as unknown as ChainRecord
const marketOf = (network: string) =>
  JSON.parse(readFileSync(join(folder.path, 'chains', network, 'market.json'), 'utf8')) as Market
const clientOf = (network: string): PublicClient =>
  createPublicClient({ transport: http(recordOf(network).rpcUrls[0]), cacheTime: 0 })

const abi = parseAbi([
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function deposit() payable',
  'function getPair(address a, address b) view returns (address)',
  'function getPool(address a, address b, uint24 fee) view returns (address)',
  'function poolByPair(address a, address b) view returns (address)',
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 at)',
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 a, uint16 b, uint16 c, uint8 d, bool e)',
  'function globalState() view returns (uint160 price, int24 tick, int24 before, uint16 fee, uint16 at, uint8 communityFee, bool unlocked)',
  'function getSlot0(bytes32 id) view returns (uint160 sqrtPriceX96, int24 tick, uint24 protocolFee, uint24 lpFee)',
  'function getPoolTokens(bytes32 id) view returns (address[] tokens, uint256[] balances, uint256 at)',
  'function aggregate((address target, bytes callData)[] calls) view returns (uint256 blockNumber, bytes[] returnData)',
])
const quoterAbi = parseAbi([
  'function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee, uint160 limit) params) returns (uint256 amountOut, uint160 sqrtPriceAfter, uint32 ticks, uint256 gas)',
])
const v4QuoterAbi = parseAbi([
  'struct Key { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function quoteExactInputSingle((Key key, bool zeroForOne, uint128 exactAmount, bytes hookData) params) returns (uint256 amountOut, uint256 gas)',
])
const zeroAddress = '0x0000000000000000000000000000000000000000'
const read = (network: string, address: Hex, functionName: string, args: readonly unknown[] = []) =>
  clientOf(network).readContract({ address, abi, functionName, args } as never) as Promise<never>

/** Price of token0 in token1 in base units, read from the contract's state. */
async function priceOfPool(network: string, { kind, address, id }: MarketPool): Promise<number> {
  const { contracts } = recordOf(network)
  const fromRoot = (root: bigint) => (Number(root) / 2 ** 96) ** 2
  if (kind === 'uniswap-v2') {
    const [reserve0, reserve1] = (await read(network, address, 'getReserves')) as readonly [bigint, bigint]
    return Number(reserve1) / Number(reserve0)
  }
  if (kind === 'balancer-weighted') {
    const [, balances] = (await read(network, contracts['balancerVault'] as Hex, 'getPoolTokens', [id])) as readonly [
      readonly Hex[],
      readonly bigint[],
    ]
    return Number(balances[1]) / Number(balances[0])
  }
  const [root] = (await (kind === 'uniswap-v4'
    ? read(network, contracts['stateView'] as Hex, 'getSlot0', [id])
    : read(network, address, kind === 'algebra' ? 'globalState' : 'slot0'))) as readonly [bigint]
  return fromRoot(root)
}

async function sandboxPrices(isFrozen: boolean): Promise<(key: string) => number> {
  const { usd } = await createEmbeddedPrices({ now: Date.now, still: isFrozen }).read()
  return (key) => {
    const price = usd.get(key)
    return price ? Number(price.bid + price.ask) / 2e12 : Number.NaN
  }
}

/** Relative deviation of each pool from the server's embedded prices. */
async function measureDeviations(network: string, isFrozen: boolean): Promise<{ pool: string; deviation: number }[]> {
  const usd = await sandboxPrices(isFrozen)
  const pools = marketOf(network).pools.filter(({ prices }) => !prices.includes('levy') && !prices.includes('mute'))
  return Promise.all(
    pools.map(async (pool) => {
      const fair = (usd(pool.prices[0]) / usd(pool.prices[1])) * 10 ** (pool.decimals[1] - pool.decimals[0])
      const deviation = Math.abs((await priceOfPool(network, pool)) / fair - 1)
      return { pool: `${pool.kind} ${pool.prices.join('/')} ${pool.feePpm}`, deviation }
    }),
  )
}

describe.each(networks)('%s', (network) => {
  test('has the contracts and tokens of chains.json', async () => {
    const { wrapped, coinIsToken, hubs, dexes, contracts, defiTokens, tokens } = recordOf(network)
    const { nativeTicker } = evmNetworks.find((one) => one.network === network) ?? { nativeTicker: '' }
    const client = clientOf(network)
    const addresses = [wrapped, ...hubs, ...dexes.map(({ factory }) => factory), ...Object.values(contracts)]
    for (const address of addresses)
      expect((await client.getCode({ address }))?.length ?? 0, address).toBeGreaterThan(100)
    expect(contracts['multicall3']).toBe('0xca11bde05977b3631167028862be2a173976ca11')
    expect(contracts['swapRouter']).toBe(swapRouter.address.toLowerCase())
    expect(contracts['swapExecutor']).toBe(swapExecutor.address.toLowerCase())
    expect(contracts['externalExecutor']).toBe(externalExecutor.address.toLowerCase())
    expect(coinIsToken).toBe(network === 'celo')
    expect(await read(network, wrapped, 'symbol')).toBe(`${coinIsToken ? '' : 'W'}${nativeTicker.toUpperCase()}`)
    expect(Object.keys(tokens).length + defiTokens.length).toBeGreaterThanOrEqual(12)
    for (const { address, symbol, name, decimals } of defiTokens) {
      const metadata = await Promise.all(['symbol', 'name', 'decimals'].map((getter) => read(network, address, getter)))
      expect(metadata).toEqual([symbol, name, decimals])
    }
    const batch = await client.readContract({
      address: contracts['multicall3'] as Hex,
      abi,
      functionName: 'aggregate',
      args: [[{ target: wrapped, callData: encodeFunctionData({ abi, functionName: 'decimals' }) }]],
    })
    expect(decodeFunctionResult({ abi, functionName: 'decimals', data: batch[1][0] ?? '0x' })).toBe(18)
  })

  test('has factories with matching pools, CREATE2 addresses and creation logs', async () => {
    const { dexes, contracts } = recordOf(network)
    const created = new Map<string, number>()
    for (const pool of marketOf(network).pools) {
      const dex = dexes.find(({ kind }) => kind === pool.kind)
      const [a, b] = pool.tokens
      const hash = dex?.initCodeHash as Hex
      created.set(pool.kind, (created.get(pool.kind) ?? 0) + 1)
      const salted = encodeAbiParameters([{ type: 'address' }, { type: 'address' }], [a, b])
      if (pool.kind === 'uniswap-v2') {
        expect(await read(network, dex?.factory as Hex, 'getPair', [b, a])).toMatch(new RegExp(pool.address, 'i'))
        const salt = keccak256(encodePacked(['address', 'address'], [a, b]))
        const address = getCreate2Address({ from: dex?.factory as Hex, salt, bytecodeHash: hash })
        expect(address.toLowerCase()).toBe(pool.address)
      } else if (pool.kind === 'uniswap-v3') {
        const poolAddress = await read(network, dex?.factory as Hex, 'getPool', [b, a, pool.feePpm])
        expect(poolAddress).toMatch(new RegExp(pool.address, 'i'))
      } else if (pool.kind === 'algebra') {
        expect(await read(network, dex?.factory as Hex, 'poolByPair', [a, b])).toMatch(new RegExp(pool.address, 'i'))
        const address = getCreate2Address({ from: dex?.deployer as Hex, salt: keccak256(salted), bytecodeHash: hash })
        expect(address.toLowerCase()).toBe(pool.address)
      }
    }
    for (const { kind, factory, deployedAt, vault } of dexes) {
      const logs = await clientOf(network).getLogs({ address: factory, fromBlock: BigInt(deployedAt), toBlock: 60n })
      // PairCreated, PoolCreated, Pool, Initialize.
      const creations = logs.filter(({ topics }) =>
        /^0x(0d3648bd|783cca1c|91ccaa7a|dd466e67|83a48fbc)/.test(topics[0] ?? ''),
      )
      expect([kind, creations.length]).toEqual([kind, created.get(kind)])
      if (vault) expect(vault).toBe(contracts['balancerVault'])
    }
  })

  test('has quoters whose amounts are within 5 % of the price less the fee', async () => {
    const { contracts } = recordOf(network)
    const client = clientOf(network)
    const usd = await sandboxPrices(false)
    for (const pool of marketOf(network).pools) {
      if (pool.kind !== 'uniswap-v3' && pool.kind !== 'uniswap-v4') continue
      if (pool.prices.includes('mute')) continue
      const [from, to] = pool.prices
      const amountIn = BigInt(Math.round((1000 / usd(from)) * 10 ** pool.decimals[0]))
      const { result } =
        pool.kind === 'uniswap-v3'
          ? await client.simulateContract({
              address: contracts['quoterV2'] as Hex,
              abi: quoterAbi,
              functionName: 'quoteExactInputSingle',
              args: [{ tokenIn: pool.tokens[0], tokenOut: pool.tokens[1], amountIn, fee: pool.feePpm, limit: 0n }],
            })
          : await client.simulateContract({
              address: contracts['v4Quoter'] as Hex,
              abi: v4QuoterAbi,
              functionName: 'quoteExactInputSingle',
              args: [
                {
                  key: {
                    currency0: pool.tokens[0],
                    currency1: pool.tokens[1],
                    fee: pool.feePpm,
                    tickSpacing: pool.spacing,
                    hooks: zeroAddress,
                  },
                  zeroForOne: true,
                  exactAmount: amountIn,
                  hookData: '0x',
                },
              ],
            })
      const usdOut = (Number(result[0]) / 10 ** pool.decimals[1]) * usd(to)
      // The trader moves these pools meanwhile.
      expect(usdOut, `${pool.kind} ${pool.prices} ${pool.feePpm}`).toBeGreaterThan(1000 * (0.95 - pool.feePpm / 1e6))
      expect(usdOut).toBeLessThan(1050)
    }
  })

  test('keeps its pools within one percent of the prices', async () => {
    await until('the pools', async () =>
      (await measureDeviations(network, false)).every(({ deviation }) => deviation < 0.01),
    )
    expect((await measureDeviations(network, false)).length).toBeGreaterThan(25)
  })
})

test('moves the pools through the trader without a change of the bank balances', async () => {
  const { tokens } = recordOf('eth')
  const bank = evmBankAddress()
  const balances = () =>
    Promise.all([
      clientOf('eth').getBalance({ address: bank }),
      ...Object.values(tokens).map((token) => read('eth', token, 'balanceOf', [bank]) as Promise<bigint>),
    ])
  const before = await balances()
  const prices = () => Promise.all(marketOf('eth').pools.map((pool) => priceOfPool('eth', pool)))
  const pricesBefore = await prices()
  await until(
    'ten pools that moved',
    async () => (await prices()).filter((price, index) => price !== pricesBefore[index]).length >= 10,
  )
  expect(await balances()).toEqual(before)
})

test('has equal native and token balances on Celo', async () => {
  const { address, privateKey } = (await sandbox.post('/wallets', { network: 'celo' })).body as {
    address: Hex
    privateKey: Hex
  }
  expect(privateKey).toMatch(/^0x/)
  await sandbox.post('/deposits', { network: 'celo', currency: 'native', address, amount: '2.5' })
  await sandbox.post('/blocks', { network: 'celo', count: 1 })
  const token = recordOf('celo').wrapped
  expect(await read('celo', token, 'balanceOf', [address])).toBe(25n * 10n ** 17n)
  const rpc = sandbox.rpc('celo')
  const bank = evmBankAddress()
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [address, 10n ** 18n] })
  await rpc.call('eth_sendTransaction', [
    // Celo's base fee is 25 gwei.
    { from: bank, to: token, data, gas: '0x30d40', maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x0' },
  ])
  await sandbox.post('/blocks', { network: 'celo', count: 1 })
  await until(
    'the transfer',
    async () => (await clientOf('celo').getBalance({ address: address })) === 35n * 10n ** 17n,
  )
})

test('restarts with the same markets and, if frozen, moves the pools to the base prices and stops trading', async () => {
  const before = sandbox.chains.networks
  expect(await sandbox.stop()).toBe(0)
  sandbox = await runSandbox(folder.path, networks.join(','), [], { SWAPYARD_SANDBOX_STILL: '1' })
  console.log(`second start: ${sandbox.startMs} ms`)
  expect(sandbox.chains.networks).toEqual(before)
  for (const network of ['eth', 'celo', 'sonic']) {
    await until('the base prices', async () =>
      (await measureDeviations(network, true)).every(({ deviation }) => deviation < 0.01),
    )
    const nonce = () => clientOf(network).getTransactionCount({ address: evmTraderAddress() })
    const height = () => clientOf(network).getBlockNumber()
    // Aligning the pools takes two blocks.
    const alignedHeight = (await height()) + 4n
    await until('blocks', async () => (await height()) >= alignedHeight)
    const nonceBefore = await nonce()
    await until('more blocks', async () => (await height()) >= alignedHeight + 6n)
    expect(await nonce()).toBe(nonceBefore)
  }
})
