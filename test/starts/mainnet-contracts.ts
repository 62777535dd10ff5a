import { encodeDeployData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { venueCode } from '../../contracts/scripts/venues.ts'
import { readMulticall3Code } from '../../sandbox/scripts/markets/artifacts.ts'
import { type Anvil, hex } from '../../server/test/adapters/chains/evm/anvil.ts'
import { testTokens } from '../../server/test/adapters/chains/evm/tokens.ts'

/* Contracts at their addresses on Ethereum's main chain, so that the published lists of tokens and DEXes hold on a local one. */

const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
export const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const UNISWAP_V2_FACTORY = '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'
/** Uniswap V2's pool of USDC and WETH on the main chain. Its address follows from the factory, the tokens and the pool's code. */
const USDC_WETH_POOL = '0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc'
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

const abi = parseAbi([
  'function deposit() payable',
  'function transfer(address, uint256) returns (bool)',
  'function mint(address to, uint256 value)',
  'function mint(address to)',
  'function createPair(address, address)',
  'function balanceOf(address) view returns (uint256)',
])

const ETHER = 10n ** 18n
const USDC_UNIT = 10n ** 6n
const GAS = 8_000_000n

/** The balance of an account in units of the token. */
export async function readTokenBalance(anvil: Anvil, token: string, owner: string): Promise<bigint> {
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner as Hex] })
  return BigInt(await anvil.request<Hex>('eth_call', [{ to: token, data }, 'latest']))
}

/** Deploys creation code anywhere and copies the runtime code, and the given storage slots, to the address. */
async function place(anvil: Anvil, address: string, creationCode: Hex, slots: readonly number[] = []): Promise<void> {
  const { txHash } = await anvil.sendAndMine({ data: creationCode, gas: GAS })
  const { contractAddress } = await anvil.request<{ contractAddress: string }>('eth_getTransactionReceipt', [txHash])
  await anvil.request('anvil_setCode', [address, await anvil.request('eth_getCode', [contractAddress, 'latest'])])
  for (const slot of slots) {
    const word = await anvil.request('eth_getStorageAt', [contractAddress, hex(slot), 'latest'])
    await anvil.request('anvil_setStorageAt', [address, `0x${slot.toString(16).padStart(64, '0')}`, word])
  }
}

async function write(anvil: Anvil, to: string, data: Hex, value = 0n): Promise<void> {
  const { txHash } = await anvil.sendAndMine({ to, data, value, gas: GAS })
  const { status } = await anvil.request<{ status: Hex }>('eth_getTransactionReceipt', [txHash])
  if (status !== '0x1') throw new Error(`the call of ${to} reverted`)
}

/** Places a standard token of these decimals at the address. */
export async function placeToken(anvil: Anvil, address: string, symbol: string, decimals: number): Promise<void> {
  const { StandardToken } = await testTokens()
  await place(anvil, address, encodeDeployData({ ...StandardToken, args: [symbol, symbol, decimals] }), [0, 1])
}

/** Creates units of a token that `placeToken` or `placeMainnetMarket` placed. */
export const mintToken = (anvil: Anvil, token: string, to: string, units: bigint): Promise<void> =>
  write(anvil, token, encodeFunctionData({ abi, functionName: 'mint', args: [to as Hex, units] }))

/** Places WETH, USDC, Multicall3 and Uniswap V2, and creates the pool of USDC and WETH with 1000 ETH at this price. */
export async function placeMainnetMarket(anvil: Anvil, dollarsPerEther: bigint): Promise<void> {
  // WETH9 keeps its name, symbol and decimals in its first three slots.
  await place(anvil, WETH, venueCode('wrapped'), [0, 1, 2])
  await place(anvil, UNISWAP_V2_FACTORY, `${venueCode('uniswapV2Factory')}${'0'.repeat(64)}`)
  await place(anvil, MULTICALL3, await readMulticall3Code())
  await placeToken(anvil, USDC, 'USDC', 6)

  const encode = (functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  await write(anvil, WETH, encode('deposit', []), 1_000n * ETHER)
  await write(anvil, UNISWAP_V2_FACTORY, encode('createPair', [USDC, WETH]))
  await write(anvil, WETH, encode('transfer', [USDC_WETH_POOL, 1_000n * ETHER]))
  await mintToken(anvil, USDC, USDC_WETH_POOL, 1_000n * dollarsPerEther * USDC_UNIT)
  await write(anvil, USDC_WETH_POOL, encode('mint', [anvil.accounts[0]]))
}
