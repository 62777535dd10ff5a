import { externalExecutor } from '@swapyard/contracts'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { readAggregatorCall } from '../swap-chain/read-aggregator-call.ts'
import { decodeAggregatorCall, encodeAggregatorCall } from './encode-aggregator-call.ts'
import { decodeSwap } from './encode-swap.ts'

const [token, other, router] = ['0xa', '0xb', '0xc'].map((start) => `${start}${'1'.repeat(39)}`) as [
  string,
  string,
  string,
]
const terms = {
  ...{ amountIn: 8n, minOut: 7n, recipient: token, fee: null, deadline: 99n },
  reference: `0x${'ab'.repeat(32)}`,
} as const
const bytes = fc.uint8Array({ minLength: 4, maxLength: 300 }).map((some) => `0x${Buffer.from(some).toString('hex')}`)

test('encodes the words that the header of ExternalExecutor.sol describes', () => {
  const call = { target: router, spender: other, calldata: `0x${'12'.repeat(33)}` }
  const encoded = encodeAggregatorCall(call, { source: token, target: null }, terms)
  const { route, ...order } = decodeSwap(encoded.calldata) ?? {}
  expect(encoded.value).toBe(0n)
  expect(order).toMatchObject({ executor: externalExecutor.address, tokenOut: zeroAddress, amountIn: 8n, minOut: 7n })
  expect(route).toEqual([
    ...[BigInt(token), 0n, BigInt(router), BigInt(other), 33n],
    ...[BigInt(`0x${'12'.repeat(32)}`), BigInt(`0x12${'00'.repeat(31)}`)],
  ])
})

test('keeps the longest accepted call within the signed transactions that /send/swap accepts', () => {
  const call = { target: router, spender: other, calldata: `0x${'12'.repeat(29_000)}` }
  const order = {
    ...{ network: 'eth', chainId: 1, native: zeroAddress },
    tokenIn: token,
    tokenOut: other,
    amountIn: 8n,
  }
  expect(readAggregatorCall({ amountOut: 9n, value: 0n, ...call }, order, [router, other])?.call).toEqual(call)
  const { calldata } = encodeAggregatorCall(call, { source: token, target: other }, terms)
  // The other fields of a signed transaction, with its signature, are less than 300 bytes.
  expect(calldata.length + 2 * 300).toBeLessThan(62_000)
})

test('decodes what it encodes, and rejects non-canonical encodings', () => {
  fc.assert(
    fc.property(bytes, fc.boolean(), (calldata, nativeIn) => {
      const call = { target: router, spender: nativeIn ? null : other, calldata }
      const sides = { source: nativeIn ? null : token, target: other }
      const encoded = encodeAggregatorCall(call, sides, terms)
      const { route = [], tokenIn = '', tokenOut = '' } = decodeSwap(encoded.calldata) ?? {}
      expect(encoded.value).toBe(nativeIn ? 8n : 0n)
      expect(decodeAggregatorCall(route, tokenIn, tokenOut)).toEqual(call)
      expect(decodeAggregatorCall([...route, 0n], tokenIn, tokenOut)).toBeNull()
      expect(decodeAggregatorCall(route.slice(0, -1), tokenIn, tokenOut)).toBeNull()
      expect(decodeAggregatorCall(route, tokenIn, router)).toBeNull()
      expect(decodeAggregatorCall(route, router, tokenOut)).toBeNull()
      for (const place of [0, 1, 2, 3])
        expect(
          decodeAggregatorCall(route.with(place, (route[place] ?? 0n) | (1n << 160n)), tokenIn, tokenOut),
        ).toBeNull()
      const padding = (calldata.length / 2 - 1) % 32
      if (padding > 0)
        expect(decodeAggregatorCall(route.with(-1, (route.at(-1) ?? 0n) | 1n), tokenIn, tokenOut)).toBeNull()
    }),
  )
})

test('rejects an empty call and malformed words', () => {
  expect(decodeAggregatorCall([], token, other)).toBeNull()
  expect(decodeAggregatorCall([BigInt(token), BigInt(other), 1n, 1n, 0n], token, other)).toBeNull()
  expect(decodeAggregatorCall([BigInt(token), BigInt(other), 1n, 1n, 3n, 0n], token, other)).toBeNull()
  expect(decodeAggregatorCall([BigInt(token), BigInt(other), 1n, 1n, 2n ** 255n, 0n], token, other)).toBeNull()
  expect(decodeAggregatorCall([BigInt(token), BigInt(other), 1n, 0n, 4n, 0n], token, other)).toBeNull()
  expect(decodeAggregatorCall([BigInt(token), BigInt(token), 1n, 1n, 4n, 0n], token, token)).toBeNull()
})
