import { encodeAbiParameters, encodeFunctionData, encodePacked, type Hex, keccak256, parseAbi, zeroAddress } from 'viem'
import { venueCode } from '../../contracts/scripts/venues.ts'
import { extractPermit2Code } from '../../sandbox/scripts/markets/dex-contracts.ts'
import type { UniswapV2Pool } from '../../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../../server/src/swap/routing/pools/uniswap-v3.ts'
import { type DexChain, farDeadline } from './dex-chain.ts'

// Uniswap's UniversalRouter 2.1 with Permit2. The commands are encoded as `Dispatcher.sol` decodes them.

const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
/** keccak256 of the creation code of Uniswap's V3 pool (`PoolAddress.sol` of v3-periphery). */
const V3_INIT_CODE_HASH = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'
/** keccak256 of the creation code of Uniswap's V2 pair (`UniswapV2Library.sol` of v2-periphery). */
const V2_INIT_CODE_HASH = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'
const [V3_SWAP, SWEEP, PAY_PORTION, V2_SWAP] = ['00', '04', '06', '08'] as const
/** Stands for the router itself, in SwapRouter02 (`Constants.sol`) and UniversalRouter (`ActionConstants.sol`). */
export const ADDRESS_THIS = '0x0000000000000000000000000000000000000002'

const abi = parseAbi([
  'function execute(bytes commands, bytes[] inputs, uint256 deadline) payable',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
])

const parametersOf = [
  ...['address', 'address', 'address', 'address', 'bytes32', 'bytes32', 'address', 'address', 'address', 'address'],
].map((type) => ({ type }))

/** One pool of a split and its share of the input. */
export type Part = Readonly<{ pool: UniswapV2Pool | UniswapV3Pool; amountIn: bigint }>
type Terms = Readonly<{ parts: readonly Part[]; feeBips: bigint; minOut: bigint }>

export async function deployUniversalRouter(chain: DexChain) {
  const { v2, v3, v4, positions } = chain.factories
  const setCode = ['anvil_setCode', [PERMIT2, await extractPermit2Code(chain.url)]] as const
  await chain.reader.request({ method: setCode[0], params: setCode[1] } as never)
  if (keccak256(venueCode('uniswapV2Pair')) !== V2_INIT_CODE_HASH)
    throw new Error('the code of the V2 pair differs from the published code')
  const addresses = [PERMIT2, chain.wrapped, v2, v3, V2_INIT_CODE_HASH, V3_INIT_CODE_HASH, v4, positions]
  const parameters = encodeAbiParameters(parametersOf, [...addresses, zeroAddress, zeroAddress])
  const router = await chain.deploy('universalRouter', parameters)

  return {
    router,
    /** Receives the user's token approval. */
    spender: PERMIT2 as Hex,
    /** The second approval: allows the router to use the user's tokens through Permit2. */
    approve: (token: Hex, units: bigint) =>
      chain.send(
        chain.user,
        PERMIT2,
        encodeFunctionData({ abi, functionName: 'approve', args: [token, router, units, Number(farDeadline)] }),
      ),
    calldata({ parts, feeBips, minOut }: Terms): Hex {
      const [a, b] = chain.tokens
      const to = feeBips === 0n ? chain.recipient : ADDRESS_THIS
      const minOutOfSwap = feeBips === 0n && parts.length === 1 ? minOut : 0n
      const commands = parts.map(({ pool, amountIn }) => {
        const terms = [to, amountIn, minOutOfSwap] as const
        return pool.kind === 'uniswap-v2'
          ? ([V2_SWAP, encodeSwapInput('address[]', [...terms, [a, b], true])] as const)
          : ([V3_SWAP, encodeSwapInput('bytes', [...terms, encodeV3Path(a, pool.feePpm, b), true])] as const)
      })
      const fee = feeBips > 0n ? [[PAY_PORTION, encodeInput([b, chain.partner, feeBips])] as const] : []
      const sweep = feeBips > 0n ? [[SWEEP, encodeInput([b, chain.recipient, minOut])] as const] : []
      const all = [...commands, ...fee, ...sweep]
      const codes: Hex = `0x${all.map(([command]) => command).join('')}`
      return encodeFunctionData({
        abi,
        functionName: 'execute',
        args: [codes, all.map(([, input]) => input), farDeadline],
      })
    },
  }
}

export type UniversalRouter = Awaited<ReturnType<typeof deployUniversalRouter>>

const encodeV3Path = (a: Hex, feePpm: number, b: Hex) => encodePacked(['address', 'uint24', 'address'], [a, feePpm, b])

const encodeSwapInput = (path: 'address[]' | 'bytes', values: readonly unknown[]): Hex =>
  encodeAbiParameters(
    ['address', 'uint256', 'uint256', path, 'bool'].map((type) => ({ type })),
    values,
  )

const encodeInput = (values: readonly unknown[]): Hex =>
  encodeAbiParameters(
    ['address', 'address', 'uint256'].map((type) => ({ type })),
    values,
  )
