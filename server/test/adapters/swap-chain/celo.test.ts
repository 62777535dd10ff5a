import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { venueCode } from '../../../../contracts/scripts/venues.ts'
import { readEvmBalance } from '../../../../test/support/evm-balance.ts'
import type { CallNode } from '../../../../test/support/utxo-wallets.ts'
import { celo } from '../../../networks/celo.ts'
import { createEvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import { deployContracts } from '../../../src/adapters/swap-chain/deploy.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute } from '../../../src/swap/routing/execute.ts'
import { type Anvil, startAnvil, TEST_CHAIN_ID } from '../chains/evm/anvil.ts'
import { compile } from '../chains/evm/compile.ts'
import { testTokens } from '../chains/evm/tokens.ts'
import { ether, native, sendAll, user, via } from './stage.ts'

// On Celo the native currency is also a token. Nothing is wrapped, whichever of its two addresses is used.

/** CELO's production address, the only one that may call the transfer precompile. */
const celoToken = '0x471ece3750da237f93b8e339c536989b8978a438'
const network = {
  ...resolveNetwork(celo, 'sandbox'),
  evm: { chainId: TEST_CHAIN_ID, finalityTag: null, dynamicFees: true },
}
const abi = parseAbi([
  'function createPair(address, address)',
  'function getPair(address, address) view returns (address)',
  'function transfer(address, uint256)',
  'function mint(address, uint256)',
])
const call = (functionName: 'createPair' | 'getPair' | 'transfer' | 'mint', args: readonly unknown[]) =>
  encodeFunctionData({ abi, functionName, args: args as never })

let anvil: Anvil
let token: string
let pool: Parameters<typeof via>[0]

beforeAll(async () => {
  anvil = await startAnvil(['--celo'])
  await anvil.request('evm_setAutomine', [true])
  const compiled = (await compile(new URL('../../../../sandbox/contracts/CeloToken.sol', import.meta.url).pathname))[
    'CeloToken'
  ]
  const runtime = await anvil.request('eth_call', [{ data: compiled?.bytecode }, 'latest'])
  await anvil.request('anvil_setCode', [celoToken, runtime])
  await deployContracts({ network, rpcUrls: [anvil.url] })
  token = (await anvil.deploy((await testTokens()).StandardToken, ['Dollar', 'cUSD', 18])).toLowerCase()
  const parameters = encodeAbiParameters([{ type: 'address' }], [zeroAddress])
  const creation: Hex = `${venueCode('uniswapV2Factory')}${parameters.slice(2)}`
  // The factory needs more gas than a test contract.
  const { txHash } = await anvil.sendAndMine({ data: creation, gas: 8_000_000n })
  const { contractAddress } = await anvil.request<{ contractAddress: string }>('eth_getTransactionReceipt', [txHash])
  const factory = contractAddress
  const send = (to: string, data: Hex) => anvil.sendAndMine({ to, data })
  await send(factory, call('createPair', [celoToken, token]))
  const word = await anvil.request<Hex>('eth_call', [
    { to: factory, data: call('getPair', [celoToken, token]) },
    'latest',
  ])
  const pair = `0x${word.slice(26)}`
  await send(token, call('mint', [pair, 9_000n * ether]))
  await send(token, call('mint', [user.address, 100n * ether]))
  await send(celoToken, call('transfer', [pair, 5_000n * ether]))
  await send(pair, encodeFunctionData({ abi: parseAbi(['function mint(address)']), args: [user.address] }))
  const tokens = celoToken < token ? [celoToken, token] : [token, celoToken]
  const reserves =
    celoToken < token ? ([5_000n * ether, 9_000n * ether] as const) : ([9_000n * ether, 5_000n * ether] as const)
  pool = { kind: 'uniswap-v2', id: pair, address: pair, dex: 'x', tokens, reserves, feePpm: 3000 }
})
afterAll(() => anvil?.stop())

test.each([
  ['native currency', native, 'stablecoin'],
  ['native currency by its token', celoToken, 'stablecoin'],
  ['stablecoin', 'stablecoin', native],
  ['stablecoin', 'stablecoin', celoToken],
])('%s (%s) for %s', async (_, from, to) => {
  const snapshot = await anvil.request('evm_snapshot', [])
  const [tokenIn, tokenOut] = [from, to].map((name) => (name === 'stablecoin' ? token : name)) as [string, string]
  const [source, target] = [from, to].map((name) => (name === 'stablecoin' ? token : celoToken)) as [string, string]
  const executed = executeRoute([via(pool, source)], source, target, 3n * ether)
  if (executed.amountOut === null) throw new Error('the route pays nothing')
  const chain = createEvmSwapChain({ network, rpcUrls: [anvil.url], wrapped: celoToken })
  const account = user.address.toLowerCase()
  const recipient = '0x00000000000000000000000000000000deadbeef'
  const order: SwapOrder = {
    ...{
      account,
      recipient,
      tokenIn,
      tokenOut,
      amountIn: 3n * ether,
      minReceived: executed.amountOut,
      feePpm: 0,
    },
    ...{ feeTo: zeroAddress, ref: 'x', swaps: executed.swaps },
    expiry: { by: 'time', at: 2 ** 40 },
  }
  const prepared = await chain.prepare(order)
  expect(prepared.simulatedOut).toBe(executed?.amountOut)
  expect(prepared.approve === null).toBe(tokenIn === native)
  const hash = await sendAll(chain, prepared)
  expect(await chain.observe(hash)).toMatchObject({ ok: true, received: executed?.amountOut })
  const call: CallNode = (method, params) => anvil.request(method, params)
  const received = await readEvmBalance(call, recipient, target === celoToken ? null : token)
  expect(received).toBe(executed?.amountOut)
  await anvil.request('evm_revert', [snapshot])
})
