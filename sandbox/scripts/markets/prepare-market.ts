import { encodeFunctionData, type Hex, parseAbi, toHex, zeroAddress } from 'viem'
import { evmBankAddress, evmTraderAddress } from '../../src/keys.ts'
import { listPoolPlans } from '../../src/market/pool-plans.ts'
import type { Address, Dex, Market, MarketSnapshot } from '../../src/market/snapshot.ts'
import { celoToken, findLeadingTokens, findNetwork, marketTokens, wrappedNativeNames } from '../../src/market/tokens.ts'
import { computeInitCodeHash } from './artifacts.ts'
import { createBalancerPool } from './create-balancer-pool.ts'
import { type Asset, callFromTrader, lowercaseAddress, planPoolCreation } from './create-pool.ts'
import { deployMarketTokens } from './deploy-tokens.ts'
import { type DexContracts, deployDexContracts, placeCeloToken, setWrappedName } from './dex-contracts.ts'
import { type FreshChain, startFreshChain } from './fresh-chain.ts'

const toWeiHex = (whole: bigint): Hex => toHex(whole * 10n ** 18n)
/** Native coins of the trader, half of them wrapped: at least 100 million dollars of the cheapest coin. */
const traderBalance = 2n * 10n ** 12n
/** Anvil's initial balance of an account. The gas that the deployment cost is restored to it. */
const accountBalance = 10n ** 9n

/** Builds the market of one network on a fresh chain. */
export async function prepareMarket(network: string): Promise<MarketSnapshot> {
  const chain = await startFreshChain(network)
  try {
    return await buildMarket(chain, network)
  } finally {
    chain.stop()
  }
}

async function buildMarket(chain: FreshChain, network: string): Promise<MarketSnapshot> {
  const owner = evmTraderAddress()
  const { nativeTicker } = findNetwork(network)
  const coinIsToken = network === 'celo'
  const contracts = await deployDexContracts(chain, owner)
  if (coinIsToken) {
    await placeCeloToken(chain)
    await chain.rpc.call('anvil_setCode', [contracts.wrapped, '0x'])
  } else {
    const { name, symbol } = wrappedNativeNames[nativeTicker] ?? {
      name: `Wrapped ${nativeTicker}`,
      symbol: `W${nativeTicker}`,
    }
    await setWrappedName(chain, contracts.wrapped, name, symbol)
  }
  const wrapped = coinIsToken ? celoToken : lowercaseAddress(contracts.wrapped)
  await chain.rpc.call('anvil_setBalance', [contracts.trader, toWeiHex(traderBalance)])
  if (!coinIsToken) await chain.runTransactions([wrapHalf(owner, contracts)])
  const tokens = await deployMarketTokens(chain, network, { owner, trader: contracts.trader })
  const findAsset = createAssetLookup(network, wrapped, tokens)
  const deployedAt = 1
  const pools = []
  for (const plan of listPoolPlans(network)) {
    if (plan.kind === 'balancer-weighted') {
      pools.push(await createBalancerPool(chain, plan, { owner, contracts, findAsset }))
      continue
    }
    const { pool, sends } = planPoolCreation(plan, { owner, contracts, findAsset })
    await chain.runTransactions(sends)
    pools.push(pool)
  }
  for (const account of [owner, evmBankAddress()]) {
    await chain.rpc.call('anvil_setBalance', [account, toWeiHex(accountBalance)])
  }
  const { bitcoin, ether } = findLeadingTokens(network)
  const hubs = ['wrapped', 'usdc', 'usdt', 'dai', bitcoin, ether].map((name) => findAsset(name).address)
  const market: Market = {
    wrapped,
    coinIsToken,
    hubs: [...new Set(hubs)],
    dexes: listDexes(contracts, deployedAt),
    contracts: listContracts(contracts),
    defiTokens: marketTokens(network)
      .filter(({ isListed }) => !isListed)
      .map(({ ticker, symbol, name, decimals }) => ({ address: findAsset(ticker).address, symbol, name, decimals })),
    trader: lowercaseAddress(contracts.trader),
    pools,
  }
  return { market, state: await chain.dumpState() }
}

function wrapHalf(owner: Address, contracts: DexContracts) {
  const deposit = encodeFunctionData({ abi: parseAbi(['function deposit()']), functionName: 'deposit' })
  return callFromTrader({ owner, contracts }, contracts.wrapped, (traderBalance / 2n) * 10n ** 18n, deposit)
}

function createAssetLookup(network: string, wrapped: Address, tokens: Readonly<Record<string, Address>>) {
  const { nativeTicker } = findNetwork(network)
  return (name: string): Asset => {
    if (name === 'wrapped') return { address: wrapped, price: nativeTicker, decimals: 18, hasTransferFee: false }
    if (name === 'native') return { address: zeroAddress, price: nativeTicker, decimals: 18, hasTransferFee: false }
    const token = marketTokens(network).find(({ ticker }) => ticker === name)
    const address = tokens[name]
    if (token === undefined || address === undefined) throw new Error(`${network} has no ${name}`)
    return { address, price: name, decimals: token.decimals, hasTransferFee: token.kind === 'fee-on-transfer' }
  }
}

function listDexes(contracts: DexContracts, deployedAt: number): Dex[] {
  const { v2Factory, v3Factory, v4Manager, algebraFactory, algebraDeployer, balancerFactory, balancerVault } = contracts
  const deployed = (factory: Address) => ({ factory: lowercaseAddress(factory), deployedAt })
  return [
    {
      name: 'Uniswap V2',
      kind: 'uniswap-v2',
      ...deployed(v2Factory),
      initCodeHash: computeInitCodeHash('v2Pair'),
      feePpm: 3000,
    },
    { name: 'Uniswap V3', kind: 'uniswap-v3', ...deployed(v3Factory), initCodeHash: computeInitCodeHash('v3Pool') },
    { name: 'Uniswap V4', kind: 'uniswap-v4', ...deployed(v4Manager) },
    {
      name: 'Algebra',
      kind: 'algebra',
      ...deployed(algebraFactory),
      initCodeHash: computeInitCodeHash('algebraPool'),
      deployer: lowercaseAddress(algebraDeployer),
      // Version 3 of the package is Algebra's second generation: a linked list of ticks, one fee for both directions.
      ticksBy: 'list',
    },
    {
      name: 'Balancer V2',
      kind: 'balancer-weighted',
      ...deployed(balancerFactory),
      vault: lowercaseAddress(balancerVault),
    },
  ]
}

function listContracts(contracts: DexContracts): Record<string, Address> {
  const named: Record<string, Address> = {
    multicall3: contracts.multicall3,
    permit2: contracts.permit2,
    quoterV2: contracts.quoterV2,
    v3Positions: contracts.v3Positions,
    v4Positions: contracts.v4Positions,
    stateView: contracts.v4StateView,
    v4Quoter: contracts.v4Quoter,
    balancerVault: contracts.balancerVault,
    // Routers that wrap the native coin. On Celo they swap only tokens.
    router02: contracts.swapRouter02,
    v2Router: contracts.v2Router,
  }
  return Object.fromEntries(Object.entries(named).map(([name, address]) => [name, lowercaseAddress(address)]))
}
