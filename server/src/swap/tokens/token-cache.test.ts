import { expect, it, vi } from 'vitest'
import { nativeAddress } from '../../adapters/chains/evm/native-coin.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { SwapChain, TokenFacts } from '../ports/swap-chain.ts'
import { createTokenCache } from './token-cache.ts'

/* A scripted chain: each test decides what a node answers, and when. */

const facts: TokenFacts = { name: 'Token', symbol: 'TKN', decimals: 6 }
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const [one, two] = [addressOf(1), addressOf(2)]

function createStage() {
  const reads: string[] = []
  const waiting: { resolve(facts: TokenFacts | null): void; reject(error: Error): void }[] = []
  const chain = {
    network: { id: 'sonic', name: 'Sonic', symbol: 'S', decimals: 18 },
    native: nativeAddress,
    readToken: (address: string) => {
      reads.push(address)
      return new Promise<TokenFacts | null>((resolve, reject) => waiting.push({ resolve, reject }))
    },
  } as unknown as SwapChain
  let now = 0
  const cache = createTokenCache(
    (network) => [{ address: `0x${network}`, name: 'Listed', symbol: 'LST', decimals: 8, icon: null }],
    () => now,
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    reads,
    peek: (address: string) => cache.peek(chain, address),
    find: (address: string) => cache.find(chain, address),
    advance(ms: number) {
      now += ms
    },
    async answer(reply: TokenFacts | null | Error) {
      const next = waiting.shift()
      if (reply instanceof Error) next?.reject(reply)
      else next?.resolve(reply)
      await settled()
    },
  }
}

const unavailable = new AppError('NETWORK_UNAVAILABLE', 'no node answers')

it('peeks at native currency and listed tokens without a node', () => {
  const { peek, reads } = createStage()
  expect(peek(nativeAddress)).toMatchObject({ symbol: 'S', decimals: 18 })
  expect(peek('0xsonic')).toEqual({
    network: 'sonic',
    address: '0xsonic',
    name: 'Listed',
    symbol: 'LST',
    decimals: 8,
  })
  expect(reads).toEqual([])
})

it('peeks without waiting and reads an unknown token once in the background', async () => {
  const { peek, reads, answer } = createStage()
  expect([peek(one), peek(one), peek(one)]).toEqual([undefined, undefined, undefined])
  expect(reads).toEqual([one])
  await answer(facts)
  expect(peek(one)).toEqual({ ...facts, network: 'sonic', address: one })
  expect(reads).toEqual([one])
})

it('remembers that there is no token, also while it reads again', async () => {
  const { peek, reads, answer, advance } = createStage()
  peek(one)
  await answer(null)
  expect(peek(one)).toBeNull()
  advance(60_000)
  expect([peek(one), peek(one)]).toEqual([null, null])
  expect(reads).toEqual([one, one])
  await answer(facts)
  expect(peek(one)).toMatchObject(facts)
})

it('serves a stale token while it refreshes, also if no node answers', async () => {
  const { peek, find, reads, answer, advance } = createStage()
  peek(one)
  await answer(facts)
  advance(25 * 3_600_000)
  expect(peek(one)).toMatchObject(facts)
  expect(reads).toEqual([one, one])
  await answer(unavailable)
  expect(peek(one)).toMatchObject(facts)
  expect(await find(one)).toMatchObject(facts)
})

it('bounds the concurrent reads of a network', async () => {
  const { peek, find, reads, answer } = createStage()
  for (let n = 1; n <= 100; n++) expect(peek(addressOf(n))).toBeUndefined()
  expect(reads).toHaveLength(16)
  await expect(find(addressOf(99))).rejects.toMatchObject({ code: 'OVERLOADED' })
  await answer(facts)
  peek(addressOf(100))
  expect(reads).toHaveLength(17)
})

it('waits before it reads again after a failure', async () => {
  const { peek, reads, answer, advance } = createStage()
  peek(one)
  await answer(unavailable)
  for (let n = 0; n < 10; n++) expect(peek(one)).toBeUndefined()
  expect(reads).toEqual([one])
  advance(6_000)
  peek(one)
  expect(reads).toEqual([one, one])
})

it('joins a running read, with a bounded wait', async () => {
  const { peek, find, reads, answer } = createStage()
  peek(one)
  const joined = find(one)
  await answer(facts)
  expect(await joined).toMatchObject(facts)
  expect(await find(one)).toMatchObject(facts)
  expect(reads).toEqual([one])

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const late = find(two)
    const refused = expect(late).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE', message: expect.any(String) })
    vi.advanceTimersByTime(5_000)
    await refused
  } finally {
    vi.useRealTimers()
  }
  // The read continues in the background.
  await answer(facts)
  expect(peek(two)).toMatchObject(facts)
})
