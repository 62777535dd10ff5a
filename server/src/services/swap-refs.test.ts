import fc from 'fast-check'
import { expect, it } from 'vitest'
import { zeroAddress } from '../domain/swap/token.ts'
import { type BuiltTerms, createSwapRefs } from './swap-refs.ts'

const terms: BuiltTerms = {
  ...{ partnerId: 'p1', network: 'eth', account: '0xa', recipient: '0xa', tokenIn: '0x1', tokenOut: '0x2' },
  ...{ amountIn: 10n, minReceived: 9n, feePpm: 3_000, feeTo: '0xf', deadline: 1_800_000_000 },
}
const refs = createSwapRefs(Buffer.from('a pepper'))

it('knows its own again, in any process with the same pepper, and nobody else’s', () => {
  const ref = refs.issue(terms)
  expect(ref).toMatch(/^0x[0-9a-f]{64}$/)
  expect(createSwapRefs(Buffer.from('a pepper')).isOurs(ref, terms)).toBe(true)
  expect(createSwapRefs(Buffer.from('another')).isOurs(ref, terms)).toBe(false)
  expect(refs.issue(terms)).not.toBe(ref)
})

it('binds every term', () => {
  const ref = refs.issue(terms)
  const other = {
    bigint: (value: bigint) => value + 1n,
    number: (value: number) => value + 1,
    string: (value: string) => `${value}0`,
  }
  for (const [name, value] of Object.entries(terms)) {
    const changed =
      typeof value === 'bigint'
        ? other.bigint(value)
        : typeof value === 'number'
          ? other.number(value)
          : other.string(value)
    expect([name, refs.isOurs(ref, { ...terms, [name]: changed })]).toEqual([name, false])
  }
})

it('asks not who would get no fee', () => {
  const free = { ...terms, feePpm: 0 }
  expect(refs.isOurs(refs.issue(free), { ...free, feeTo: zeroAddress })).toBe(true)
})

it('refuses whatever it did not make', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      ),
      (text) => !refs.isOurs(text, terms),
    ),
  )
})
