import {
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbi,
  zeroAddress,
} from 'viem'
import { toTraderPool, traderAbi } from '../../src/evm/trader-abi.ts'
import type { LiquidityRange, PoolPlan } from '../../src/market/pool-plans.ts'
import type { Address, MarketPool } from '../../src/market/snapshot.ts'
import { sqrtPriceX96 } from '../../src/market/sqrt-price.ts'
import { priceOf } from '../../src/prices.ts'
import { computeInitCodeHash } from './artifacts.ts'
import { toUnits } from './deploy-tokens.ts'
import type { DexContracts } from './dex-contracts.ts'
import type { TransactionRequest } from './fresh-chain.ts'

const abi = parseAbi([
  'function createPair(address a, address b)',
  'function createPool(address a, address b)',
  'function mint(address to)',
  'function transfer(address to, uint256 amount)',
  'function initialize(uint160 sqrtPriceX96)',
])
const v3Abi = parseAbi(['function createPool(address a, address b, uint24 fee)'])
const v4Abi = parseAbi([
  'struct Key { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function initialize(Key key, uint160 sqrtPriceX96)',
])

/** A token of a plan on the network, with its price key. */
export type Asset = Readonly<{ address: Address; price: string; decimals: number; hasTransferFee: boolean }>
export type Dependencies = Readonly<{
  owner: Address
  contracts: DexContracts
  findAsset: (name: string) => Asset
}>

export type PoolCreation = Readonly<{ pool: MarketPool; sends: readonly TransactionRequest[] }>

type Draft = Dependencies & Readonly<{ plan: PoolPlan; a: Asset; b: Asset; sqrtPrice: bigint }>
type Planner = (draft: Draft) => PoolCreation

/** Plans the transactions that create a pool at the base price and add its liquidity. */
export function planPoolCreation(plan: PoolPlan, dependencies: Dependencies): PoolCreation {
  const [a, b] = findAssets(plan, dependencies)
  const sqrtPrice = sqrtPriceX96(
    { price: priceOf(a.price, null), decimals: a.decimals },
    { price: priceOf(b.price, null), decimals: b.decimals },
  )
  const planCreation = planners[plan.kind]
  if (planCreation === undefined) throw new Error(`create-pool.ts does not create ${plan.kind} pools`)
  return planCreation({ ...dependencies, plan, a, b, sqrtPrice })
}

/** The tokens of the plan in address order. */
export function findAssets({ tokens }: PoolPlan, { findAsset }: Dependencies): readonly [Asset, Asset] {
  const [first, second] = [findAsset(tokens[0]), findAsset(tokens[1])]
  return BigInt(first.address) < BigInt(second.address) ? [first, second] : [second, first]
}

/** A call that the trader's contract makes. */
export function callFromTrader(
  { owner, contracts }: Pick<Dependencies, 'owner' | 'contracts'>,
  ...args: readonly [to: Address, value: bigint, data: Hex]
): TransactionRequest {
  const data = encodeFunctionData({ abi: traderAbi, functionName: 'call', args })
  return { from: owner, to: contracts.trader, data }
}

const planners: Partial<Record<PoolPlan['kind'], Planner>> = {
  'uniswap-v2'(draft) {
    const { owner: from, contracts, plan, a, b } = draft
    const salt = keccak256(encodePacked(['address', 'address'], [a.address, b.address]))
    const pool = toMarketPool(draft, computeAddress(contracts.v2Factory, salt, 'v2Pair'))
    const dollars = BigInt((plan.ranges[0]?.dollars ?? 0) / 2)
    const fund = (side: Asset): TransactionRequest => {
      const units = toUnits(side.price, side.decimals, dollars)
      const sent = [pool.address, side.hasTransferFee ? (units * 100n) / 99n : units] as const
      return callFromTrader(draft, side.address, 0n, encodeFunctionData({ abi, functionName: 'transfer', args: sent }))
    }
    const create = encodeFunctionData({ abi, functionName: 'createPair', args: [a.address, b.address] })
    const mint = encodeFunctionData({ abi, functionName: 'mint', args: [contracts.trader] })
    const sends = [
      { from, to: contracts.v2Factory, data: create },
      fund(a),
      fund(b),
      { from, to: pool.address, data: mint },
    ]
    return { pool, sends }
  },
  'uniswap-v3'(draft) {
    const { owner: from, contracts, plan, a, b } = draft
    const args = [a.address, b.address, plan.feePpm] as const
    const salt = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'address' }, { type: 'uint24' }], args))
    const pool = toMarketPool(draft, computeAddress(contracts.v3Factory, salt, 'v3Pool'))
    const create = encodeFunctionData({ abi: v3Abi, functionName: 'createPool', args })
    return { pool, sends: [{ from, to: contracts.v3Factory, data: create }, ...initializeAndFill(draft, pool)] }
  },
  algebra(draft) {
    const { owner: from, contracts, a, b } = draft
    const args = [a.address, b.address] as const
    const salt = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'address' }], args))
    const pool = toMarketPool(draft, computeAddress(contracts.algebraDeployer, salt, 'algebraPool'))
    const create = encodeFunctionData({ abi, functionName: 'createPool', args })
    return { pool, sends: [{ from, to: contracts.algebraFactory, data: create }, ...initializeAndFill(draft, pool)] }
  },
  'uniswap-v4'(draft) {
    const { owner: from, contracts, plan, a, b, sqrtPrice } = draft
    const key = {
      currency0: a.address,
      currency1: b.address,
      fee: plan.feePpm,
      tickSpacing: plan.spacing,
      hooks: zeroAddress,
    }
    const types = ['address', 'address', 'uint24', 'int24', 'address'].map((type) => ({ type }))
    const pool = { ...toMarketPool(draft, zeroAddress), id: keccak256(encodeAbiParameters(types, Object.values(key))) }
    const data = encodeFunctionData({ abi: v4Abi, functionName: 'initialize', args: [key, sqrtPrice] })
    return { pool, sends: [{ from, to: contracts.v4Manager, data }, ...addRanges(draft, pool)] }
  },
}

const computeAddress = (deployer: Address, salt: Hex, code: 'v2Pair' | 'v3Pool' | 'algebraPool'): Address =>
  lowercaseAddress(getCreate2Address({ from: deployer, salt, bytecodeHash: computeInitCodeHash(code) }))

export const toMarketPool = ({ plan, a, b }: Pick<Draft, 'plan' | 'a' | 'b'>, address: Address): MarketPool => ({
  kind: plan.kind,
  tokens: [a.address, b.address],
  prices: [a.price, b.price],
  decimals: [a.decimals, b.decimals],
  feePpm: plan.feePpm,
  spacing: plan.spacing,
  address,
})

function initializeAndFill(draft: Draft, pool: MarketPool): TransactionRequest[] {
  const data = encodeFunctionData({ abi, functionName: 'initialize', args: [draft.sqrtPrice] })
  return [{ from: draft.owner, to: pool.address, data }, ...addRanges(draft, pool)]
}

function addRanges({ owner, contracts, plan, sqrtPrice }: Draft, pool: MarketPool): TransactionRequest[] {
  return plan.ranges.map((range) => {
    const args = [toTraderPool(pool), ...computePosition(range, pool, sqrtPrice)] as const
    return {
      from: owner,
      to: contracts.trader,
      data: encodeFunctionData({ abi: traderAbi, functionName: 'add', args }),
    }
  })
}

/** Ticks that enclose the range, and the liquidity of the range's dollars between them. */
function computePosition(
  { percent, dollars }: LiquidityRange,
  pool: MarketPool,
  sqrtPrice: bigint,
): readonly [number, number, bigint] {
  const root = Number(sqrtPrice) / 2 ** 96
  const tickOf = (price: number) => Math.log(price) / Math.log(1.0001)
  const widest = Math.floor(887_272 / pool.spacing) * pool.spacing
  const share = percent === 'all' ? 0 : percent / 100
  const low = percent === 'all' ? -widest : Math.floor(tickOf(root ** 2 * (1 - share)) / pool.spacing) * pool.spacing
  const high = percent === 'all' ? widest : Math.ceil(tickOf(root ** 2 * (1 + share)) / pool.spacing) * pool.spacing
  const worth = Number(toUnits(pool.prices[1], pool.decimals[1], BigInt(Math.round(dollars))))
  const rootAt = (tick: number) => 1.0001 ** (tick / 2)
  const liquidity = worth / (2 * root - rootAt(low) - root ** 2 / rootAt(high))
  // Six digits, because the last bits of a logarithm can differ between machines.
  return [low, high, BigInt(Number(liquidity.toPrecision(6)))]
}

export const lowercaseAddress = (address: Hex): Address => address.toLowerCase() as Address
