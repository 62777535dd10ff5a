import { describe, expect, test } from 'vitest'
import { payoutPayee, recipientPayee, refundPayee, senderPayee } from '../../exchange/ports/payee-macs.ts'
import { createPayeeMacs } from './payee-macs.ts'

const [old, current] = [Buffer.from('an old pepper'), Buffer.from('a new pepper')]
const terms = {
  ...{ id: 'p1', purpose: 'payout', network: 'eth', assetId: 'eth@eth', address: '0xa', memo: null, units: 5n },
  ...{ exchangeId: 'e1', depositId: '7', owedFrom: null },
}

describe('authentication codes of payees', () => {
  const macs = createPayeeMacs(current)

  test.each(Object.keys(terms))('of a payout cover its %s', (field) => {
    const mac = macs.of(payoutPayee(terms))
    expect(macs.isValid(payoutPayee(terms), mac)).toBe(true)
    const other = { ...terms, [field]: field === 'units' ? 6n : 'other' }
    expect(macs.isValid(payoutPayee(other), mac)).toBe(false)
  })

  test('of one exchange, network, memo or kind are not those of another', () => {
    const mac = macs.of(refundPayee('e1', 'eth', { address: '0xa', memo: null }))
    expect(macs.isValid(refundPayee('e1', 'eth', { address: '0xa', memo: null }), mac)).toBe(true)
    for (const payee of [
      refundPayee('e2', 'eth', { address: '0xa', memo: null }),
      refundPayee('e1', 'bsc', { address: '0xa', memo: null }),
      refundPayee('e1', 'eth', { address: '0xa', memo: '' }),
      recipientPayee('e1', 'eth', { address: '0xa', memo: null }),
      senderPayee('e1', 'eth', '0xa'),
    ])
      expect(macs.isValid(payee, mac)).toBe(false)
  })

  test.each([null, '', 'a', Buffer.alloc(32).toString('base64url'), Buffer.alloc(64).toString('base64url')])(
    'are not %s',
    (mac) => expect(macs.isValid(payoutPayee(terms), mac)).toBe(false),
  )

  test('of the previous pepper are valid while it is named, and no new ones are made with it', () => {
    const mac = createPayeeMacs(old).of(payoutPayee(terms))
    expect(macs.isValid(payoutPayee(terms), mac)).toBe(false)
    const both = createPayeeMacs(current, old)
    expect(both.isValid(payoutPayee(terms), mac)).toBe(true)
    expect(both.of(payoutPayee(terms))).toBe(macs.of(payoutPayee(terms)))
  })
})
