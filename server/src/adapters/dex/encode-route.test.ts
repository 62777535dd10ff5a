import { swapExecutor, swapRouter } from '@swapyard/contracts'
import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { type RouteSwap, SHARE_ALL } from '../../swap/routing/execute.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { nativeAddress } from '../chains/evm/native-coin.ts'
import { decodeRoute } from './decode-route.ts'
import { encodeRoute } from './encode-route.ts'
import { decodeSwap, encodeSwap } from './encode-swap.ts'

// The expected words follow the layout in SwapExecutor.sol. test/contracts/encoded-routes.test.ts executes routes on a chain.

const address = (byte: string) => `0x${byte.repeat(20)}`
const [a, b, c, wrapped] = ['aa', 'bb', 'cc', 'ee'].map(address) as [string, string, string, string]
const word = (hex: string) => BigInt(`0x${hex.replaceAll(' ', '')}`)

const pool = (kind: string, byte: string, tokens: readonly string[], more: object = {}) =>
  ({ kind, id: address(byte), address: address(byte), dex: kind, tokens, ...more }) as unknown as Pool
const v2 = (byte: string, tokens: readonly string[]) => pool('uniswap-v2', byte, tokens, { feePpm: 3000 })
const swap = (of: Pool, tokenIn: number, tokenOut: number, share = SHARE_ALL): RouteSwap => ({
  pool: of,
  tokenIn,
  tokenOut,
  share,
})
const tokens = { source: a, target: c, nativeIn: false, nativeOut: false, wrapped }

test('encodes a split hop and a second hop', () => {
  const swaps = [
    swap(v2('01', [a, b]), 0, 1, 0x123456),
    swap(pool('uniswap-v3', '02', [b, a], { feePpm: 500 }), 1, 0),
    swap(pool('curve-stable', '03', [a, b, c]), 1, 2),
  ]
  expect(encodeRoute({ ...tokens, swaps })).toEqual([
    3n,
    ...[a, c, b].map(BigInt),
    word(`01 00 02 00 123456 0000000bb8 ${'01'.repeat(20)}`),
    word(`02 00 02 00 ffffff 0000000000 ${'02'.repeat(20)}`),
    // Curve pays its caller, so the executor transfers the target at the end.
    word(`05 02 01 00 ffffff 0000000102 ${'03'.repeat(20)}`),
  ])
})

test('sends an output directly to the next pool if that pool supports prepayment', () => {
  const swaps = [
    swap(pool('solidly', '01', [a, b]), 0, 1),
    swap(pool('liquidity-book', '02', [wrapped, b]), 1, 0),
    swap(v2('03', [wrapped, c]), 0, 1),
  ]
  expect(encodeRoute({ ...tokens, swaps }).slice(5)).toEqual([
    word(`04 00 02 02 ffffff 0000000000 ${'01'.repeat(20)}`),
    word(`07 02 03 06 ffffff 0000000000 ${'02'.repeat(20)}`),
    word(`01 03 01 05 ffffff 0000000bb8 ${'03'.repeat(20)}`),
  ])
})

test('keeps an output in the executor if a later step uses it', () => {
  const swaps = [swap(v2('01', [a, b]), 0, 1, 0x800000), swap(v2('02', [a, b]), 0, 1), swap(v2('03', [b, c]), 0, 1)]
  expect(encodeRoute({ ...tokens, swaps }).slice(4)).toEqual([
    word(`01 00 02 00 800000 0000000bb8 ${'01'.repeat(20)}`),
    word(`01 00 02 00 ffffff 0000000bb8 ${'02'.repeat(20)}`),
    word(`01 02 01 01 ffffff 0000000bb8 ${'03'.repeat(20)}`),
  ])
})

test("encodes a Balancer pool's id as an extra word", () => {
  const id = `0x${'77'.repeat(32)}`
  const vault = pool('balancer-weighted', '05', [a, c], { id, vault: 'v2' })
  expect(encodeRoute({ ...tokens, swaps: [swap(vault, 0, 1)] }).slice(3)).toEqual([
    word(`06 00 01 01 ffffff 0000000000 ${'05'.repeat(20)}`),
    BigInt(id),
  ])
})

test("unwraps before and wraps after Uniswap V4's pools of the native currency, with fee and tick spacing", () => {
  const nativePool = (byte: string, token: string) =>
    pool('uniswap-v4', byte, [wrapped, token], { native: true, lpFeePpm: 0x0bb8, tickSpacing: 60 })
  const swaps = [swap(nativePool('04', a), 1, 0), swap(nativePool('04', c), 0, 1)]
  expect(encodeRoute({ ...tokens, swaps }).slice(5)).toEqual([
    word(`03 00 02 00 ffffff 000bb8003c ${'04'.repeat(20)}`),
    word(`08 02 03 00 ffffff 0000000000 ${'00'.repeat(20)}`),
    word(`09 03 02 00 ffffff 0000000000 ${'00'.repeat(20)}`),
    word(`03 02 01 01 ffffff 000bb8003c ${'04'.repeat(20)}`),
  ])
})

test('wraps nothing if the native currency is a token (Celo)', () => {
  const celo = { ...tokens, source: wrapped, nativeIn: true, wrapped: null }
  expect(encodeRoute({ ...celo, swaps: [swap(v2('01', [wrapped, c]), 0, 1)] })).toEqual([
    2n,
    BigInt(wrapped),
    BigInt(c),
    word(`01 00 01 01 ffffff 0000000bb8 ${'01'.repeat(20)}`),
  ])
})

test('decodes a router call to its terms', () => {
  const swaps = [swap(v2('01', [a, c]), 0, 1)]
  const reference = `0x${'12'.repeat(32)}` as const
  const fee = { to: address('99'), ppm: 10_000n }
  const terms = { amountIn: 5n, minOut: 4n, recipient: b, fee, reference, deadline: 1_800_000_000n }
  const { to, calldata, value } = encodeSwap({ ...tokens, swaps }, terms)
  expect([to, value]).toEqual([swapRouter.address, 0n])
  const decoded = decodeSwap(calldata)
  expect(decoded).toMatchObject({ amountIn: 5n, minOut: 4n, feePpm: 10_000n, ref: reference, deadline: 1_800_000_000n })
  expect(decoded?.executor).toBe(swapExecutor.address)
  expect(decoded?.recipient.toLowerCase()).toBe(b)
  expect(decoded?.route).toEqual(encodeRoute({ ...tokens, swaps }))
  expect(decodeSwap('0x')).toBeNull()
  expect(decodeSwap(`0xa9059cbb${calldata.slice(10)}`)).toBeNull()
  expect(decodeSwap(calldata.slice(0, 100) as `0x${string}`)).toBeNull()
})

test('D6: names the pools and tokens of a route', () => {
  const balancerId = `0x${'05'.repeat(20)}000200000000000000000077`
  const vault = { ...pool('balancer-weighted', 'ba', [a, b], { vault: 'v2' }), id: balancerId } as Pool
  const v4 = pool('uniswap-v4', 'f4', [wrapped, c], { native: true, lpFeePpm: 3_000, tickSpacing: 60 })
  const swaps = [
    swap(vault, 0, 1),
    swap(pool('uniswap-v3', '02', [b, wrapped]), 0, 1),
    swap(v4, 0, 1, 0x800000),
    swap(pool('curve-stable', '03', [c, wrapped]), 1, 0),
  ]
  // PoolKey.toId: the keccak hash of its five words.
  const key = parseAbiParameters('address, address, uint24, int24, address')
  const v4Id = keccak256(encodeAbiParameters(key, [zeroAddress, c as Hex, 3_000, 60, zeroAddress]))
  const { pools, tokens: named } = decodeRoute(encodeRoute({ ...tokens, swaps }))
  expect(pools).toEqual([balancerId, address('02'), v4Id, address('03')])
  expect([...named].sort()).toEqual([a, b, c, wrapped, nativeAddress].sort())
  // A route that only wraps has no pool.
  const wraps = encodeRoute({ source: wrapped, target: wrapped, nativeIn: true, nativeOut: false, wrapped, swaps: [] })
  expect(decodeRoute(wraps)).toEqual({ pools: [], tokens: [nativeAddress, wrapped] })
  for (const nonsense of [[], [9n], [1n << 255n, 5n], [0n, 6n << 248n]])
    expect(() => decodeRoute(nonsense)).not.toThrow()
})
