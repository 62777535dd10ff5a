import { encodeFunctionData, type Hex, keccak256, parseAbi, stringToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeSwap } from '../../server/src/adapters/dex/encode-swap.ts'
import { type RouteSwap, SHARE_ALL } from '../../server/src/swap/routing/execute.ts'
import type { UniswapV2Pool } from '../../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../../server/src/swap/routing/pools/uniswap-v3.ts'
import { type DexChain, startDexChain } from './dex-chain.ts'
import { deployUniversalRouter, type UniversalRouter } from './universal-router.ts'

// Whole transactions, as receipts count them, of ours, of Uniswap's SwapRouter02 and, for the record, of its UniversalRouter:
// the same pools, amounts and fee. Approvals (UniversalRouter needs two) are exact, sent before, and not counted.

const peerAbi = parseAbi([
  'function multicall(uint256 deadline, bytes[] calls) payable',
  'struct Single { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(Single)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)',
  'function sweepTokenWithFee(address token, uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient) payable',
])
/** SwapRouter02's name for itself. */
const itself = '0x0000000000000000000000000000000000000002'
const coin = 10n ** 18n
const forever = 2n ** 40n

let chain: DexChain
let universal: UniversalRouter
let v2: UniswapV2Pool
let deep: UniswapV3Pool
let cheap: UniswapV3Pool

beforeAll(async () => {
  chain = await startDexChain()
  universal = await deployUniversalRouter(chain)
  const [a, b] = chain.tokens
  v2 = await chain.makeV2(a, b, 300_000n * coin, 310_000n * coin)
  deep = await chain.makeV3(a, b, 500, 10, 2000)
  cheap = await chain.makeV3(a, b, 3000, 60, 12_000)
  // Traded before: the words of the pair's price sums are not zero.
  await pass()
  await chain.write(chain.owner, v2.address as Hex, 'sync', [])
  // Partners and regular users have the token already.
  for (const to of [chain.recipient, chain.partner]) await chain.write(chain.owner, b, 'transfer', [to, coin])
})
afterAll(() => chain?.stop())

/** A pair adds to its price sums once in a second of the chain's: every transaction measured is in a second of its own. */
async function pass(): Promise<void> {
  await chain.reader.request({ method: 'evm_increaseTime', params: [12] } as never)
}

type Outcome = Readonly<{ gas: bigint; paid: bigint }>

async function gasOf(to: Hex, calldata: Hex, amountIn: bigint, spender = to): Promise<Outcome> {
  const [a] = chain.tokens
  const snapshot = await chain.reader.request({ method: 'evm_snapshot' } as never)
  await chain.write(chain.owner, a, 'transfer', [chain.user, amountIn + 1n])
  await chain.write(chain.user, a, 'approve', [spender, amountIn])
  if (spender !== to) await universal.approve(a, amountIn)
  await pass()
  const received = () => chain.balanceOf(chain.tokens[1], chain.recipient)
  const before = await received()
  const { gasUsed: gas } = await chain.send(chain.user, to, calldata)
  const paid = (await received()) - before
  await chain.reader.request({ method: 'evm_revert', params: [snapshot] } as never)
  return { gas, paid }
}

type Part = Readonly<{ pool: UniswapV2Pool | UniswapV3Pool; amountIn: bigint }>
const total = (parts: readonly Part[]) => parts.reduce((sum, { amountIn }) => sum + amountIn, 0n)

function ours(parts: readonly Part[], feePpm: bigint) {
  const [source, target] = chain.tokens.map((token) => token.toLowerCase()) as [string, string]
  let left = total(parts)
  const swaps = parts.map(({ pool, amountIn }): RouteSwap => {
    const tokenIn = pool.tokens.indexOf(source)
    const share = amountIn === left ? SHARE_ALL : Number((amountIn << 24n) / left)
    left -= amountIn
    return { pool, tokenIn, tokenOut: 1 - tokenIn, share }
  })
  const terms = {
    amountIn: total(parts),
    minOut: coin,
    recipient: chain.recipient,
    fee: feePpm === 0n ? null : { to: chain.partner, ppm: feePpm },
    reference: keccak256(stringToHex('a reference')),
    deadline: forever,
  }
  const { to, calldata } = encodeSwap(
    { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: chain.wrapped.toLowerCase() },
    terms,
  )
  return gasOf(to, calldata, total(parts))
}

function peer(parts: readonly Part[], feeBips: bigint) {
  const [a, b] = chain.tokens
  const to = feeBips === 0n ? chain.recipient : itself
  const calls = parts.map(({ pool, amountIn }) => {
    if (pool.kind === 'uniswap-v2') {
      const args = [amountIn, 0n, [a, b], to] as const
      return encodeFunctionData({ abi: peerAbi, functionName: 'swapExactTokensForTokens', args })
    }
    const single = { tokenIn: a, tokenOut: b, fee: pool.feePpm, recipient: to, amountIn, amountOutMinimum: 0n }
    const args = [{ ...single, sqrtPriceLimitX96: 0n }] as const
    return encodeFunctionData({ abi: peerAbi, functionName: 'exactInputSingle', args })
  })
  const sweep = [b, coin, chain.recipient, feeBips, chain.partner] as const
  if (feeBips > 0n) calls.push(encodeFunctionData({ abi: peerAbi, functionName: 'sweepTokenWithFee', args: sweep }))
  const calldata = encodeFunctionData({ abi: peerAbi, functionName: 'multicall', args: [forever, calls] })
  return gasOf(chain.peer, calldata, total(parts))
}

function universally(parts: readonly Part[], feeBips: bigint) {
  const calldata = universal.calldata({ parts, feeBips, minOut: coin })
  return gasOf(universal.router, calldata, total(parts), universal.spender)
}

const ratio = (left: Outcome, right: Outcome) => Number((left.gas * 1000n) / right.gas) / 1000

async function compare(name: string, parts: readonly Part[], bound: number) {
  const withFee = [await ours(parts, 5_000n), await peer(parts, 50n), await universally(parts, 50n)] as const
  const without = [await ours(parts, 0n), await peer(parts, 0n), await universally(parts, 0n)] as const
  for (const [terms, [own, theirs, record]] of [['fee', withFee] as const, ['no fee', without] as const]) {
    console.info(
      `${name}, ${terms}: ${own.gas}; SwapRouter02 ${theirs.gas}, ratio ${ratio(own, theirs)}; UniversalRouter ${record.gas}, ratio ${ratio(own, record)}`,
    )
    // Shares of a split are rounded to 2⁻²⁴ of what is there.
    for (const { paid } of [theirs, record]) expect(Math.abs(Number(own.paid - paid)) / Number(paid)).toBeLessThan(1e-6)
  }
  expect(ratio(withFee[0], withFee[1])).toBeLessThanOrEqual(bound)
}

test('one pool costs at most a quarter more than SwapRouter02', async () => {
  await compare('V2', [{ pool: v2, amountIn: 500n * coin }], 1.25)
  await compare('V3', [{ pool: deep, amountIn: 500n * coin }], 1.25)
})

test('a split over three pools costs at most a tenth more', async () => {
  const parts = [v2, deep, cheap].map((pool) => ({ pool, amountIn: 512n * coin }))
  await compare('V2 + V3 + V3', parts, 1.1)
})
