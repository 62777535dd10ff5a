import { encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { traderAbi } from '../../src/evm/trader-abi.ts'
import { evmBankAddress, evmTraderAddress } from '../../src/keys.ts'
import { poolPlans } from '../../src/market/pool-plans.ts'
import type { Address, Dex, Market, Prepared } from '../../src/market/snapshot.ts'
import { celoToken, leading, marketTokens, networkOf, wrappedNames } from '../../src/market/tokens.ts'
import { initCodeHash } from './artifacts.ts'
import { makeBalancerPool } from './create-balancer-pool.ts'
import { type Asset, lower, makePool } from './create-pool.ts'
import { deployTokens } from './deploy-tokens.ts'
import { deployVenues, nameWrapped, placeCelo, type Venues } from './dex-contracts.ts'
import { type FreshChain, startFreshChain } from './fresh-chain.ts'

const coins = (whole: bigint): Hex => toHex(whole * 10n ** 18n)
/** Of the cheapest coins a hundred million dollars and more, of which half is wrapped. */
const traderCoins = 2n * 10n ** 12n
/** As anvil gives each account at the start: what the making cost is given back. */
const accountCoins = 10n ** 9n
const nobody: Address = '0x0000000000000000000000000000000000000000'

/** Makes the market of one network on a chain of its own. */
export async function prepareMarket(network: string): Promise<Prepared> {
  const chain = await startFreshChain(network)
  try {
    return await prepareOn(chain, network)
  } finally {
    chain.stop()
  }
}

async function prepareOn(chain: FreshChain, network: string): Promise<Prepared> {
  const owner = evmTraderAddress()
  const { coin } = networkOf(network)
  const coinIsToken = network === 'celo'
  const venues = await deployVenues(chain, owner)
  if (coinIsToken) {
    await placeCelo(chain)
    await chain.rpc.call('anvil_setCode', [venues.wrapped, '0x'])
  } else {
    const { name, symbol } = wrappedNames[coin] ?? { name: `Wrapped ${coin}`, symbol: `W${coin}` }
    await nameWrapped(chain, venues.wrapped, name, symbol)
  }
  const wrapped = coinIsToken ? celoToken : lower(venues.wrapped)
  await chain.rpc.call('anvil_setBalance', [venues.trader, coins(traderCoins)])
  if (!coinIsToken) await chain.run([wrapSome(owner, venues)])
  const tokens = await deployTokens(chain, network, { owner, trader: venues.trader })
  const asset = assetsOf(network, wrapped, tokens)
  const deployedAt = 1
  const pools = []
  for (const plan of poolPlans(network)) {
    if (plan.kind === 'balancer-weighted') {
      pools.push(await makeBalancerPool(chain, plan, { owner, venues, asset }))
      continue
    }
    const { pool, sends } = makePool(plan, { owner, venues, asset })
    await chain.run(sends)
    pools.push(pool)
  }
  for (const account of [owner, evmBankAddress()]) {
    await chain.rpc.call('anvil_setBalance', [account, coins(accountCoins)])
  }
  const { bitcoin, ether } = leading(network)
  const hubs = ['coin', 'usdc', 'usdt', 'dai', bitcoin, ether].map((name) => asset(name).address)
  const market: Market = {
    wrapped,
    coinIsToken,
    hubs: [...new Set(hubs)],
    dexes: dexesOf(venues, deployedAt),
    contracts: contractsOf(venues),
    defiTokens: marketTokens(network)
      .filter(({ listed }) => !listed)
      .map(({ ticker, symbol, name, decimals }) => ({ address: asset(ticker).address, symbol, name, decimals })),
    trader: lower(venues.trader),
    pools,
  }
  return { market, state: await chain.state() }
}

function wrapSome(owner: Address, venues: Venues) {
  const deposit = encodeFunctionData({ abi: parseAbi(['function deposit()']), functionName: 'deposit' })
  const args = [venues.wrapped, (traderCoins / 2n) * 10n ** 18n, deposit] as const
  return { from: owner, to: venues.trader, data: encodeFunctionData({ abi: traderAbi, functionName: 'call', args }) }
}

function assetsOf(network: string, wrapped: Address, tokens: Readonly<Record<string, Address>>) {
  const { coin } = networkOf(network)
  return (name: string): Asset => {
    if (name === 'coin') return { address: wrapped, price: coin, decimals: 18, levied: false }
    if (name === 'native') return { address: nobody, price: coin, decimals: 18, levied: false }
    const token = marketTokens(network).find(({ ticker }) => ticker === name)
    const address = tokens[name]
    if (token === undefined || address === undefined) throw new Error(`${network} has no ${name}`)
    return { address, price: name, decimals: token.decimals, levied: token.kind === 'levy' }
  }
}

function dexesOf(venues: Venues, deployedAt: number): Dex[] {
  const { v2Factory, v3Factory, v4Manager, algebraFactory, algebraDeployer, balancerFactory, balancerVault } = venues
  const at = (factory: Address) => ({ factory: lower(factory), deployedAt })
  return [
    { name: 'Uniswap V2', kind: 'uniswap-v2', ...at(v2Factory), initCodeHash: initCodeHash('v2Pair'), feePpm: 3000 },
    { name: 'Uniswap V3', kind: 'uniswap-v3', ...at(v3Factory), initCodeHash: initCodeHash('v3Pool') },
    { name: 'Uniswap V4', kind: 'uniswap-v4', ...at(v4Manager) },
    {
      name: 'Algebra',
      kind: 'algebra',
      ...at(algebraFactory),
      initCodeHash: initCodeHash('algebraPool'),
      deployer: lower(algebraDeployer),
      // The package's version 3 is the second generation of Algebra: a list of ticks, one fee for both directions.
      ticksBy: 'list',
    },
    { name: 'Balancer V2', kind: 'balancer-weighted', ...at(balancerFactory), vault: lower(balancerVault) },
  ]
}

function contractsOf(venues: Venues): Record<string, Address> {
  const named: Record<string, Address> = {
    multicall3: venues.multicall3,
    permit2: venues.permit2,
    quoterV2: venues.quoterV2,
    v3Positions: venues.v3Positions,
    v4Positions: venues.v4Positions,
    stateView: venues.v4StateView,
    v4Quoter: venues.v4Quoter,
    balancerVault: venues.balancerVault,
    // These wrap, and Celo's coin can't be wrapped: there they swap tokens only.
    router02: venues.swapRouter02,
    v2Router: venues.v2Router,
  }
  return Object.fromEntries(Object.entries(named).map(([name, address]) => [name, lower(address)]))
}
