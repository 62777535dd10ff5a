import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateIds, type RateOffer } from './rate-id.ts'

const pepper = randomBytes(32)
const rateIds = createRateIds(pepper)
const offer: RateOffer = {
  partnerId: '3b241101-e2bb-4255-8caf-4136c566a962',
  fromAssetId: 'btc@btc',
  toAssetId: 'usdt@eth',
  flow: 'fixed-rate',
  fromUnits: 10_000_000n,
  toUnits: 9_576_481_190n,
  expiresAt: new Date('2026-11-20T12:00:59.999Z'),
}
const invalid = expect.objectContaining({ code: 'RATE_ID_INVALID' })
const mismatch = expect.objectContaining({ code: 'RATE_ID_MISMATCH' })

describe('a rateId', () => {
  it('returns the terms of the quote', () => {
    const { nonce, ...terms } = rateIds.read(rateIds.issue(offer), offer)
    expect(terms).toEqual(offer)
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/)
  })

  it('reads a stored token, and issues tokens of the documented layout', () => {
    const fixed = createRateIds(Buffer.from('a pepper of the tests'))
    const token = 'AwGh-NTUXw5RbEu3H7GMwFjhD0KEWplY96TXTq8kpLpUePfijbPAA5iWgAI6zYGmqkdnt1b78lSFZPd2u9zrWA'
    expect(fixed.read(token, offer)).toEqual({ ...offer, nonce: 'DlFsS7cfsYzAWOEPQoRamQ' })
    const key = new Uint8Array(hkdfSync('sha256', 'a pepper of the tests', '', 'swapyard rate id 3', 32))
    const issued = Buffer.from(fixed.issue(offer), 'base64url')
    const mac = createHmac('sha256', key).update(issued.subarray(0, -16)).digest().subarray(0, 16)
    expect(issued.subarray(-16)).toEqual(mac)
    // All but the nonce and the MAC.
    const withoutNonce = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 7), bytes.subarray(23, -16)])
    expect(withoutNonce(issued)).toEqual(withoutNonce(Buffer.from(token, 'base64url')))
  })

  it('holds any amount in at most 256 URL-safe characters', () => {
    const units = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 10n ** 78n - 1n }))
    fc.assert(
      fc.property(
        units,
        units,
        fc.string({ maxLength: 100 }),
        fc.date({ min: new Date(0), max: new Date('9999'), noInvalidDate: true }),
        (fromUnits, toUnits, partnerId, expiresAt) => {
          const terms = { ...offer, fromUnits, toUnits, partnerId, expiresAt }
          const token = rateIds.issue(terms)
          expect(token).toMatch(/^[A-Za-z0-9_-]{1,256}$/)
          expect(rateIds.read(token, terms)).toMatchObject({ toUnits, expiresAt })
        },
      ),
    )
  })

  it('is unique', () => {
    const tokens = Array.from({ length: 1_000 }, () => rateIds.issue(offer))
    expect(new Set(tokens).size).toBe(1_000)
    expect(new Set(tokens.map((token) => rateIds.read(token, offer).nonce)).size).toBe(1_000)
  })

  it('is valid for every process with the same pepper only', () => {
    const token = rateIds.issue(offer)
    expect(createRateIds(pepper).read(token, offer)).toMatchObject({ toUnits: offer.toUnits })
    expect(() => createRateIds(randomBytes(32)).read(token, offer)).toThrow(invalid)
  })

  it('compares amounts to the 15 digits of a quote', () => {
    const requested = 1_123_456_789_012_345_678n
    const token = rateIds.issue({ ...offer, fromUnits: 1_123_456_789_012_340_000n })
    expect(rateIds.read(token, { ...offer, fromUnits: requested })).toMatchObject({ fromUnits: requested })
  })

  it.each([
    ['partner', { partnerId: '3b241101-e2bb-4255-8caf-4136c566a963' }],
    ['source', { fromAssetId: 'btc@eth' }],
    ['target', { toAssetId: 'usdt@trx' }],
    ['flow', { flow: 'standard' }],
    ['amount', { fromUnits: 10_000_001n }],
    ['direction', { fromAssetId: 'usdt@eth', toAssetId: 'btc@btc' }],
    ['parts run together', { fromAssetId: 'btc@btc","usdt@eth', toAssetId: '' }],
  ] as const)('rejects another %s without saying what differs', (_, change) => {
    const token = rateIds.issue(offer)
    expect(() => rateIds.read(token, { ...offer, ...change })).toThrow(mismatch)
    expect(() => rateIds.read(token, { ...offer, ...change })).toThrow('rateId was issued for other terms')
  })
})

describe('a forged rateId', () => {
  it('is rejected for any flipped bit', () => {
    const bytes = Buffer.from(rateIds.issue(offer), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = Buffer.from(bytes)
      forged.writeUInt8(forged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => rateIds.read(forged.toString('base64url'), offer)).toThrow(invalid)
    }
  })

  it('is rejected when truncated, extended or encoded differently', () => {
    const token = rateIds.issue(offer)
    const bytes = Buffer.from(token, 'base64url')
    const others = [
      '',
      ' ',
      'not-a-uuid',
      'null',
      '{}',
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      token + token,
      'A'.repeat(80),
      'A'.repeat(1_000_000),
      bytes.toString('base64').replace(/[-_]/g, '+').concat('+'),
      ...Array.from(bytes, (_, length) => bytes.subarray(0, length).toString('base64url')),
      Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url'),
      Buffer.concat([bytes.subarray(0, 39), Buffer.alloc(1), bytes.subarray(39)]).toString('base64url'),
    ]
    for (const text of others) expect(() => rateIds.read(text, offer), text.slice(0, 100)).toThrow(invalid)
  })

  it('is rejected for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(() => rateIds.read(text, offer)).toThrow(invalid)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 56, maxLength: 88 }), (bytes) => {
        const text = Buffer.from([2, ...bytes.subarray(1)]).toString('base64url')
        expect(() => rateIds.read(text, offer)).toThrow(invalid)
      }),
    )
  })
})
