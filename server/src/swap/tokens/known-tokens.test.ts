import { expect, it, vi } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import { nativeAddress } from '../domain/token.ts'
import type { SwapChain, TokenFacts } from '../ports/swap-chain.ts'
import { createTokenCache } from './known-tokens.ts'

/* What a node says, and when, is what each test decides: a chain whose answers wait for it. */

const facts: TokenFacts = { name: 'Token', symbol: 'TKN', decimals: 6 }
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const [one, two] = [addressOf(1), addressOf(2)]

function createStage() {
  const asked: string[] = []
  const waiting: { resolve(facts: TokenFacts | null): void; reject(error: Error): void }[] = []
  const chain = {
    network: { id: 'sonic', name: 'Sonic', symbol: 'S', decimals: 18 },
    readToken: (address: string) => {
      asked.push(address)
      return new Promise<TokenFacts | null>((resolve, reject) => waiting.push({ resolve, reject }))
    },
  } as unknown as SwapChain
  let now = 0
  const known = createTokenCache(
    (network) => [{ address: `0x${network}`, name: 'Listed', symbol: 'LST', decimals: 8, icon: null }],
    () => now,
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    asked,
    recall: (address: string) => known.recall(chain, address),
    find: (address: string) => known.find(chain, address),
    pass(ms: number) {
      now += ms
    },
    async answer(said: TokenFacts | null | Error) {
      const next = waiting.shift()
      if (said instanceof Error) next?.reject(said)
      else next?.resolve(said)
      await settled()
    },
  }
}

const away = new AppError('NETWORK_UNAVAILABLE', 'no node answers')

it('recalls the coin and what is listed without a node', () => {
  const { recall, asked } = createStage()
  expect(recall(nativeAddress)).toMatchObject({ symbol: 'S', decimals: 18 })
  expect(recall('0xsonic')).toEqual({
    network: 'sonic',
    address: '0xsonic',
    name: 'Listed',
    symbol: 'LST',
    decimals: 8,
  })
  expect(asked).toEqual([])
})

it('never waits for a token that it meets: it is read behind, once however often it is asked for', async () => {
  const { recall, asked, answer } = createStage()
  expect([recall(one), recall(one), recall(one)]).toEqual([undefined, undefined, undefined])
  expect(asked).toEqual([one])
  await answer(facts)
  expect(recall(one)).toEqual({ ...facts, network: 'sonic', address: one })
  expect(asked).toEqual([one])
})

it('says that there is no token as soon as that is known, and goes on saying so while it looks again', async () => {
  const { recall, asked, answer, pass } = createStage()
  recall(one)
  await answer(null)
  expect(recall(one)).toBeNull()
  pass(60_000)
  expect([recall(one), recall(one)]).toEqual([null, null])
  expect(asked).toEqual([one, one])
  await answer(facts)
  expect(recall(one)).toMatchObject(facts)
})

it('knows a token on while it is read anew, also where no node answers then', async () => {
  const { recall, find, asked, answer, pass } = createStage()
  recall(one)
  await answer(facts)
  pass(25 * 3_600_000)
  expect(recall(one)).toMatchObject(facts)
  expect(asked).toEqual([one, one])
  await answer(away)
  expect(recall(one)).toMatchObject(facts)
  expect(await find(one)).toMatchObject(facts)
})

it('reads few tokens of a network at once, however many are asked for', async () => {
  const { recall, find, asked, answer } = createStage()
  for (let n = 1; n <= 100; n++) expect(recall(addressOf(n))).toBeUndefined()
  expect(asked).toHaveLength(16)
  await expect(find(addressOf(99))).rejects.toMatchObject({ code: 'OVERLOADED' })
  await answer(facts)
  recall(addressOf(100))
  expect(asked).toHaveLength(17)
})

it('leaves nodes alone for a while after they failed', async () => {
  const { recall, asked, answer, pass } = createStage()
  recall(one)
  await answer(away)
  for (let n = 0; n < 10; n++) expect(recall(one)).toBeUndefined()
  expect(asked).toEqual([one])
  pass(6_000)
  recall(one)
  expect(asked).toEqual([one, one])
})

it('lets others wait for the same reading, but not for long', async () => {
  const { recall, find, asked, answer } = createStage()
  recall(one)
  const found = find(one)
  await answer(facts)
  expect(await found).toMatchObject(facts)
  expect(await find(one)).toMatchObject(facts)
  expect(asked).toEqual([one])

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const late = find(two)
    const refused = expect(late).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE', message: expect.any(String) })
    vi.advanceTimersByTime(5_000)
    await refused
  } finally {
    vi.useRealTimers()
  }
  // It is read on for whoever asks next.
  await answer(facts)
  expect(recall(two)).toMatchObject(facts)
})
