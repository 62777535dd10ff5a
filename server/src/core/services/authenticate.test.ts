import { crc32 } from 'node:zlib'
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
          const secrets = [{ hmac: known, expiresAt: null }]
          return { partner, keyId: id, scopes: new Set(), ipAllowList: [], origins: null, secrets }
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

// The id and the secret of a publishable key are in every page that uses it.
test('the parts of a publishable key make no secret key, and the other way round', async () => {
  const origins = ['https://wallet.example']
  const page = makeApiKey('live', pepper, undefined, 'pk')
  const secret = makeApiKey('live', pepper)
  const stored = new Map([
    [page.keyId, { hmac: page.hmac, origins }],
    [secret.keyId, { hmac: secret.hmac, origins: null }],
  ])
  const { authenticate } = createAuthenticate({
    partners: {
      findKey: async (id) => {
        const known = stored.get(id)
        if (known === undefined) return null
        const secrets = [{ hmac: known.hmac, expiresAt: null }]
        return { partner, keyId: id, scopes: new Set(), ipAllowList: [], origins: known.origins, secrets }
      },
      touchKey: async () => undefined,
    },
    ...{ pepper, sandboxKeys: [], acceptsTestKeys: false, throttled: false, now: Date.now },
  })
  expect(page.text).toMatch(/^pk_live_/)
  expect(await authenticate(page.text, '10.0.0.1')).toMatchObject({ keyId: page.keyId, origins })
  expect(await authenticate(secret.text, '10.0.0.1')).not.toHaveProperty('origins')
  /** The same id and secret with the other prefix, and the checksum of that. */
  const withPrefix = (text: string, prefix: string) => {
    const head = prefix + text.slice(2, -7)
    return `${head}_${toBase62(crc32(head))}`
  }
  for (const forged of [withPrefix(page.text, 'sy'), withPrefix(secret.text, 'pk')])
    await expect(async () => authenticate(forged, '10.0.0.1')).rejects.toMatchObject({ code: 'API_KEY_INVALID' })
})

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
function toBase62(value: number): string {
  let [text, rest] = ['', value]
  for (let n = 0; n < 6; n++) {
    text = (DIGITS[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}
