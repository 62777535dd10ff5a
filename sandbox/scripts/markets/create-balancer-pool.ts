import { encodeAbiParameters, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import { traderAbi } from '../../src/evm/trader-abi.ts'
import type { PoolPlan } from '../../src/market/pool-plans.ts'
import type { Address, MarketPool } from '../../src/market/snapshot.ts'
import { type Asset, lower } from './create-pool.ts'
import { unitsOf } from './deploy-tokens.ts'
import type { Venues } from './dex-contracts.ts'
import type { FreshChain, Send } from './fresh-chain.ts'

const abi = parseAbi([
  'function create(string name, string symbol, address[] tokens, uint256[] weights, uint256 swapFee, address owner)',
  'function getPoolId() view returns (bytes32)',
  'function approve(address spender, uint256 amount)',
  'struct Join { address[] assets; uint256[] maxAmountsIn; bytes userData; bool fromInternalBalance; }',
  'function joinPool(bytes32 poolId, address sender, address recipient, Join request)',
])
const weight = 5n * 10n ** 17n

type Ground = Readonly<{ owner: Address; venues: Venues; asset: (name: string) => Asset }>

/** The network's one weighted pool, of equal parts. */
export async function makeBalancerPool(chain: FreshChain, plan: PoolPlan, ground: Ground): Promise<MarketPool> {
  const { owner, venues, asset } = ground
  const [one, two] = [asset(plan.tokens[0]), asset(plan.tokens[1])]
  const sides = BigInt(one.address) < BigInt(two.address) ? ([one, two] as const) : ([two, one] as const)
  const tokens = [sides[0].address, sides[1].address] as const
  const fee = BigInt(plan.feePpm) * 10n ** 12n
  const create = encodeFunctionData({
    abi,
    functionName: 'create',
    args: ['Sandbox weighted pool', 'SWP', tokens, [weight, weight], fee, owner],
  })
  // The factory's first contract.
  const address = getContractAddress({ from: venues.balancerFactory, nonce: 1n })
  await chain.run([{ from: owner, to: venues.balancerFactory, data: create }])
  const asked = { to: address, data: encodeFunctionData({ abi, functionName: 'getPoolId' }) }
  const id = (await chain.rpc.call('eth_call', [asked, 'latest'])) as Hex
  const dollars = BigInt(plan.ranges[0]?.dollars ?? 0) / 2n
  const amounts = sides.map(({ price, decimals }) => unitsOf(price, decimals, dollars))
  const through = (to: Address, data: Hex): Send => {
    const args = [to, 0n, data] as const
    return { from: owner, to: venues.trader, data: encodeFunctionData({ abi: traderAbi, functionName: 'call', args }) }
  }
  // Kind 0: the first join, which says how much of each.
  const userData = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256[]' }], [0n, amounts])
  const request = { assets: tokens, maxAmountsIn: amounts, userData, fromInternalBalance: false }
  await chain.run([
    ...tokens.map((token, at) => {
      const args = [venues.balancerVault, amounts[at] ?? 0n] as const
      return through(token, encodeFunctionData({ abi, functionName: 'approve', args }))
    }),
    through(
      venues.balancerVault,
      encodeFunctionData({ abi, functionName: 'joinPool', args: [id, venues.trader, venues.trader, request] }),
    ),
  ])
  return {
    kind: plan.kind,
    address: lower(address),
    id,
    tokens,
    prices: [sides[0].price, sides[1].price],
    decimals: [sides[0].decimals, sides[1].decimals],
    feePpm: plan.feePpm,
    spacing: 0,
  }
}
