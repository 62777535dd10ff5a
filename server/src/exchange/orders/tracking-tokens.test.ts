import { createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createTrackingTokens } from './tracking-tokens.ts'

const pepper = Buffer.from('a pepper of tests')
const tokens = createTrackingTokens(pepper)
const id = '0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('a tracking token', () => {
  test('is the id and 128 bits of HMAC-SHA256 under a key that HKDF derives from the pepper', () => {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
    const key = Buffer.from(hkdfSync('sha256', pepper, '', 'swapyard tracking 1', 32))
    const mac = createHmac('sha256', key).update(bytes).digest().subarray(0, 16)
    expect(tokens.of(id)).toBe(Buffer.concat([bytes, mac]).toString('base64url'))
  })

  test('names its exchange in every process with the same pepper', () => {
    for (const one of [id, randomUUID(), '00000000-0000-0000-0000-000000000000']) {
      expect(createTrackingTokens(pepper).read(tokens.of(one))).toBe(one)
    }
  })

  test('is refused with any other character at any place', () => {
    const token = tokens.of(id)
    for (let at = 0; at < token.length; at++)
      for (const other of ALPHABET)
        if (other !== token[at]) expect(tokens.read(token.slice(0, at) + other + token.slice(at + 1))).toBeNull()
  })

  test('of one exchange does not open another', () => {
    const other = tokens.of(randomUUID())
    expect(tokens.read(tokens.of(id).slice(0, 21) + other.slice(21))).toBeNull()
    expect(tokens.read(other.slice(0, 22) + tokens.of(id).slice(22))).toBeNull()
  })

  test.each(['', 'a', '%00', `${tokens.of(id)}=`, `${tokens.of(id)}A`, tokens.of(id).slice(1), id, '../../etc/passwd'])(
    'is not %j',
    (text) => expect(tokens.read(text)).toBeNull(),
  )

  test('under another pepper is refused, and under the previous one accepted', () => {
    const next = randomBytes(32)
    expect(createTrackingTokens(next).read(tokens.of(id))).toBeNull()
    const changed = createTrackingTokens(next, pepper)
    expect(changed.read(tokens.of(id))).toBe(id)
    expect(changed.of(id)).toBe(createTrackingTokens(next).of(id))
  })
})
