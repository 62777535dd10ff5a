import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMac, type Mac } from './mac.ts'

describe('the MAC', () => {
  const hmac = (mac: Mac, message: Uint8Array) => {
    mac.message.set(message)
    return Buffer.from(mac.of(message.length), 'latin1').toString('hex')
  }

  it('is that of RFC 4231, test cases 1 and 2', () => {
    const mac = (algorithm: 'sha256' | 'sha512', key: Buffer, text: string) =>
      hmac(createMac(algorithm, key, text.length), Buffer.from(text))
    expect(mac('sha256', Buffer.alloc(20, 0x0b), 'Hi There')).toBe(
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    )
    expect(mac('sha256', Buffer.from('Jefe'), 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
    expect(mac('sha512', Buffer.alloc(20, 0x0b), 'Hi There')).toBe(
      '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
    )
    expect(mac('sha512', Buffer.from('Jefe'), 'what do ya want for nothing?')).toBe(
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    )
  })

  it('is what the library makes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('sha256' as const, 'sha512' as const),
        fc.uint8Array({ maxLength: 64 }),
        fc.uint8Array({ maxLength: 72 }),
        (algorithm, key, message) => {
          const mac = createMac(algorithm, key, 72, 16)
          // What an earlier, longer message left behind does not count, nor what stands behind this one.
          hmac(mac, Buffer.alloc(72, 0xff))
          mac.message.fill(0xee)
          expect(hmac(mac, message)).toBe(createHmac(algorithm, key).update(message).digest('hex'))
        },
      ),
    )
  })
})
