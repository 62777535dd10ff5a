import { expect, test } from 'vitest'
import type { Partner } from '../domain/partner.ts'
import { createAuthenticate } from './authenticate.ts'
import { makeApiKey } from './partner-keys.ts'

const pepper = Buffer.from('a pepper for tests')
const partner: Partner = {
  ...{
    id: 'p1',
    name: 'p1',
    feeBps: 0,
    suspended: false,
    openExchangesMax: 1,
    rateLimitPerMinute: 60,
    strict: false,
    refundToSender: false,
  },
  defaultRecipients: new Map(),
}

test('a test key is accepted in the sandbox only, although its secret is right', async () => {
  const { keyId, text, hmac } = makeApiKey('test', pepper)
  const live = makeApiKey('live', pepper)
  const hmacs = new Map([
    [keyId, hmac],
    [live.keyId, live.hmac],
  ])
  const authenticateIn = (environment: 'sandbox' | 'production', key: string) =>
    createAuthenticate({
      partners: {
        findKey: async (id) => {
          const known = hmacs.get(id)
          if (known === undefined) return null
          return { partner, keyId: id, scopes: new Set(), ipAllowList: [], secrets: [{ hmac: known, expiresAt: null }] }
        },
        touchKey: async () => undefined,
      },
      pepper,
      sandboxKeys: [],
      acceptsTestKeys: environment === 'sandbox',
      throttled: false,
      now: Date.now,
    }).authenticate(key, '10.0.0.1')
  expect(await authenticateIn('sandbox', text)).toMatchObject({ keyId })
  expect(await authenticateIn('production', live.text)).toMatchObject({ keyId: live.keyId })
  expect(() => authenticateIn('production', text)).toThrow('a test key works in the sandbox only')
})
