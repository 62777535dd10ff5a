import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createEvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import { deployContracts, readContracts } from '../../../src/adapters/swap-chain/deploy.ts'
import { type Anvil, startAnvil } from '../chains/evm/anvil.ts'
import { network } from '../chains/evm/wallet.ts'
import { ether, native, user, via } from './stage.ts'

// Deploys the contracts on a chain without them and without their deployer.

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil()
})
afterAll(() => anvil?.stop())

test('reports the state and deploys what is missing', async () => {
  const target = { network, rpcUrls: [anvil.url] }
  await anvil.request('anvil_setCode', ['0x4e59b44847b379578588920cA78FbF26c0B4956C', '0x'])
  const before = await readContracts(target)
  expect(before.map(({ contract, isDeployed }) => [contract, isDeployed])).toEqual([
    ['router', false],
    ['executor', false],
    ['external-executor', false],
  ])
  expect(before[0]?.transaction).toMatchObject({
    chainId: 3_133_700_001,
    to: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  })

  const wrapped = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
  const token = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
  const pool = {
    kind: 'uniswap-v2',
    id: 'p',
    address: token,
    dex: 'x',
    tokens: [wrapped, token],
    reserves: [9n, 9n],
    feePpm: 3000,
  } as const
  const account = user.address.toLowerCase()
  const prepared = createEvmSwapChain({ network, rpcUrls: [anvil.url], wrapped }).prepare({
    ...{ account, recipient: account, tokenIn: native, tokenOut: token, amountIn: ether, minReceived: 1n, feePpm: 0 },
    ...{
      feeTo: account,
      expiry: { by: 'time', at: 2 ** 40 },
      ref: 'x',
      swaps: [{ ...via(pool, wrapped), amountIn: ether, amountOut: 1n }],
    },
  })
  await expect(prepared).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })

  const deployed = deployContracts(target)
  await expect.poll(() => anvil.request('txpool_status', []), PATIENCE).toMatchObject({ pending: '0x3' })
  await anvil.mine()
  const states = await deployed
  expect(states.every(({ isDeployed, transaction }) => isDeployed && transaction === null)).toBe(true)
  for (const [n, { address }] of states.entries()) {
    expect(address).toBe(before[n]?.address)
    expect(String(await anvil.request('eth_getCode', [address, 'latest'])).length).toBeGreaterThan(2_000)
  }
  // A repeated run sends nothing.
  await deployContracts(target)
  expect(await anvil.request('txpool_status', [])).toMatchObject({ pending: '0x0' })
  await expect(
    deployContracts({ ...target, network: { ...network, evm: { chainId: 1, finalityTag: null, dynamicFees: true } } }),
  ).rejects.toThrow('deploys only to chains of the sandbox')
})
