import { encodeFunctionData, type Hex, keccak256, parseAbi, stringToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeSwap } from '../../server/src/adapters/dex/encode-swap.ts'
import { type RouteSwap, SHARE_ALL } from '../../server/src/swap/routing/execute.ts'
import type { UniswapV2Pool } from '../../server/src/swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../../server/src/swap/routing/pools/uniswap-v3.ts'
import { type DexChain, ether, farDeadline, startDexChain } from './dex-chain.ts'
import { ADDRESS_THIS, deployUniversalRouter, type Part, type UniversalRouter } from './universal-router.ts'

// Compares `gasUsed` of whole transactions through our router with Uniswap's SwapRouter02: same pools, amounts and fee.
// UniversalRouter is only printed. Approvals (UniversalRouter needs two) are exact, sent earlier and not counted.

const swapRouter02Abi = parseAbi([
  'function multicall(uint256 deadline, bytes[] calls) payable',
  'struct Single { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(Single)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)',
  'function sweepTokenWithFee(address token, uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient) payable',
])

let chain: DexChain
let universal: UniversalRouter
let v2: UniswapV2Pool
let v3: UniswapV3Pool
let v3Wide: UniswapV3Pool

beforeAll(async () => {
  chain = await startDexChain()
  universal = await deployUniversalRouter(chain)
  const [a, b] = chain.tokens
  v2 = await chain.makeV2(a, b, 300_000n * ether, 310_000n * ether)
  v3 = await chain.makeV3(a, b, 500, 10, 2000)
  v3Wide = await chain.makeV3(a, b, 3000, 60, 12_000)
  // Makes the storage slots of the pair's cumulative prices non-zero, as in a pair with earlier trades.
  await advanceTime()
  await chain.write(chain.owner, v2.address as Hex, 'sync', [])
  // Makes the token balances of the recipient and the partner non-zero.
  for (const to of [chain.recipient, chain.partner]) await chain.write(chain.owner, b, 'transfer', [to, ether])
})
afterAll(() => chain?.stop())

/** Gives each measured transaction its own timestamp, because a pair updates its cumulative prices once per timestamp. */
async function advanceTime(): Promise<void> {
  await chain.reader.request({ method: 'evm_increaseTime', params: [12] } as never)
}

type Outcome = Readonly<{ gas: bigint; paid: bigint }>

async function measureGas(to: Hex, calldata: Hex, amountIn: bigint, spender = to): Promise<Outcome> {
  const [a] = chain.tokens
  const snapshot = await chain.reader.request({ method: 'evm_snapshot' } as never)
  await chain.write(chain.owner, a, 'transfer', [chain.user, amountIn + 1n])
  await chain.write(chain.user, a, 'approve', [spender, amountIn])
  if (spender !== to) await universal.approve(a, amountIn)
  await advanceTime()
  const readBalance = () => chain.balanceOf(chain.tokens[1], chain.recipient)
  const before = await readBalance()
  const { gasUsed: gas } = await chain.send(chain.user, to, calldata)
  const paid = (await readBalance()) - before
  await chain.reader.request({ method: 'evm_revert', params: [snapshot] } as never)
  return { gas, paid }
}

const sumAmounts = (parts: readonly Part[]) => parts.reduce((sum, { amountIn }) => sum + amountIn, 0n)

function measureOurRouter(parts: readonly Part[], feePpm: bigint) {
  const [source, target] = chain.tokens.map((token) => token.toLowerCase()) as [string, string]
  let left = sumAmounts(parts)
  const swaps = parts.map(({ pool, amountIn }): RouteSwap => {
    const tokenIn = pool.tokens.indexOf(source)
    const share = amountIn === left ? SHARE_ALL : Number((amountIn << 24n) / left)
    left -= amountIn
    return { pool, tokenIn, tokenOut: 1 - tokenIn, share }
  })
  const terms = {
    amountIn: sumAmounts(parts),
    minOut: ether,
    recipient: chain.recipient,
    fee: feePpm === 0n ? null : { to: chain.partner, ppm: feePpm },
    reference: keccak256(stringToHex('a reference')),
    deadline: farDeadline,
  }
  const { to, calldata } = encodeSwap(
    { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: chain.wrapped.toLowerCase() },
    terms,
  )
  return measureGas(to, calldata, sumAmounts(parts))
}

function measureSwapRouter02(parts: readonly Part[], feeBips: bigint) {
  const [a, b] = chain.tokens
  const to = feeBips === 0n ? chain.recipient : ADDRESS_THIS
  const calls = parts.map(({ pool, amountIn }) => {
    if (pool.kind === 'uniswap-v2') {
      const args = [amountIn, 0n, [a, b], to] as const
      return encodeFunctionData({ abi: swapRouter02Abi, functionName: 'swapExactTokensForTokens', args })
    }
    const single = { tokenIn: a, tokenOut: b, fee: pool.feePpm, recipient: to, amountIn, amountOutMinimum: 0n }
    const args = [{ ...single, sqrtPriceLimitX96: 0n }] as const
    return encodeFunctionData({ abi: swapRouter02Abi, functionName: 'exactInputSingle', args })
  })
  const sweep = [b, ether, chain.recipient, feeBips, chain.partner] as const
  if (feeBips > 0n)
    calls.push(encodeFunctionData({ abi: swapRouter02Abi, functionName: 'sweepTokenWithFee', args: sweep }))
  const calldata = encodeFunctionData({ abi: swapRouter02Abi, functionName: 'multicall', args: [farDeadline, calls] })
  return measureGas(chain.swapRouter02, calldata, sumAmounts(parts))
}

function measureUniversalRouter(parts: readonly Part[], feeBips: bigint) {
  const calldata = universal.calldata({ parts, feeBips, minOut: ether })
  return measureGas(universal.router, calldata, sumAmounts(parts), universal.spender)
}

const ratio = (left: Outcome, right: Outcome) => Number((left.gas * 1000n) / right.gas) / 1000

/** `maxRatio`: of our gas to SwapRouter02's, with a referrer fee and without one. */
async function compareGas(name: string, parts: readonly Part[], maxRatio: Readonly<{ fee: number; noFee: number }>) {
  const withFee = [
    await measureOurRouter(parts, 5_000n),
    await measureSwapRouter02(parts, 50n),
    await measureUniversalRouter(parts, 50n),
  ] as const
  const feeless = [
    await measureOurRouter(parts, 0n),
    await measureSwapRouter02(parts, 0n),
    await measureUniversalRouter(parts, 0n),
  ] as const
  for (const [terms, [own, router02, universalRouter]] of [['fee', withFee] as const, ['no fee', feeless] as const]) {
    console.info(
      `${name}, ${terms}: ${own.gas}; SwapRouter02 ${router02.gas}, ratio ${ratio(own, router02)}; UniversalRouter ${universalRouter.gas}, ratio ${ratio(own, universalRouter)}`,
    )
    // Our router rounds the shares of a split to multiples of 2⁻²⁴ of the remaining amount.
    for (const { paid } of [router02, universalRouter])
      expect(Math.abs(Number(own.paid - paid)) / Number(paid)).toBeLessThan(1e-6)
  }
  expect(ratio(withFee[0], withFee[1])).toBeLessThanOrEqual(maxRatio.fee)
  expect(ratio(feeless[0], feeless[1])).toBeLessThanOrEqual(maxRatio.noFee)
}

test('a swap through one pool costs at most 25 % more gas than SwapRouter02 with a fee, 35 % without', async () => {
  const maxRatio = { fee: 1.25, noFee: 1.35 }
  await compareGas('V2', [{ pool: v2, amountIn: 500n * ether }], maxRatio)
  await compareGas('V3', [{ pool: v3, amountIn: 500n * ether }], maxRatio)
})

test('a split over three pools costs at most 10 % more gas than SwapRouter02', async () => {
  const parts = [v2, v3, v3Wide].map((pool) => ({ pool, amountIn: 512n * ether }))
  await compareGas('V2 + V3 + V3', parts, { fee: 1.1, noFee: 1.1 })
})
