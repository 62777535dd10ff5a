import { encodeAbiParameters, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import type { PoolPlan } from '../../src/market/pool-plans.ts'
import type { MarketPool } from '../../src/market/snapshot.ts'
import { callFromTrader, type Dependencies, findAssets, lowercaseAddress, toMarketPool } from './create-pool.ts'
import { toUnits } from './deploy-tokens.ts'
import type { FreshChain } from './fresh-chain.ts'

const abi = parseAbi([
  'function create(string name, string symbol, address[] tokens, uint256[] weights, uint256 swapFee, address owner)',
  'function getPoolId() view returns (bytes32)',
  'function approve(address spender, uint256 amount)',
  'struct Join { address[] assets; uint256[] maxAmountsIn; bytes userData; bool fromInternalBalance; }',
  'function joinPool(bytes32 poolId, address sender, address recipient, Join request)',
])
const weight = 5n * 10n ** 17n

/** Creates the network's weighted pool with weights 50/50. */
export async function createBalancerPool(
  chain: FreshChain,
  plan: PoolPlan,
  dependencies: Dependencies,
): Promise<MarketPool> {
  const { owner, contracts } = dependencies
  const [a, b] = findAssets(plan, dependencies)
  const tokens = [a.address, b.address]
  const fee = BigInt(plan.feePpm) * 10n ** 12n
  const create = encodeFunctionData({
    abi,
    functionName: 'create',
    args: ['Sandbox weighted pool', 'SWP', tokens, [weight, weight], fee, owner],
  })
  // The pool is the factory's first contract.
  const address = getContractAddress({ from: contracts.balancerFactory, nonce: 1n })
  await chain.runTransactions([{ from: owner, to: contracts.balancerFactory, data: create }])
  const call = { to: address, data: encodeFunctionData({ abi, functionName: 'getPoolId' }) }
  const id = (await chain.rpc.call('eth_call', [call, 'latest'])) as Hex
  const dollars = BigInt(plan.ranges[0]?.dollars ?? 0) / 2n
  const amounts = [a, b].map(({ price, decimals }) => toUnits(price, decimals, dollars))
  // Join kind 0 (INIT): the first join, with the amount of each token.
  const userData = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256[]' }], [0n, amounts])
  const request = { assets: tokens, maxAmountsIn: amounts, userData, fromInternalBalance: false }
  await chain.runTransactions([
    ...tokens.map((token, index) => {
      const args = [contracts.balancerVault, amounts[index] ?? 0n] as const
      return callFromTrader(dependencies, token, 0n, encodeFunctionData({ abi, functionName: 'approve', args }))
    }),
    callFromTrader(
      dependencies,
      contracts.balancerVault,
      0n,
      encodeFunctionData({ abi, functionName: 'joinPool', args: [id, contracts.trader, contracts.trader, request] }),
    ),
  ])
  return { ...toMarketPool({ plan, a, b }, lowercaseAddress(address)), id }
}
