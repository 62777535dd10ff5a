import { describe, expect, test } from 'vitest'
import { createWebhookSecrets } from './webhook-secrets.ts'

const secrets = createWebhookSecrets(Buffer.from('a pepper of the tests'))

describe('sealed secrets', () => {
  test('open for their owner alone, and do not contain the secret', () => {
    const sealed = secrets.seal('one', 'whsec_secret')
    expect(secrets.open('one', sealed)).toBe('whsec_secret')
    expect(sealed.includes('whsec')).toBe(false)
    expect(() => secrets.open('two', sealed)).toThrow('cannot be opened')
    sealed.writeUInt8((sealed.at(-1) ?? 0) ^ 1, sealed.length - 1)
    expect(() => secrets.open('one', sealed)).toThrow('cannot be opened')
  })

  test('open after a change of the pepper, as long as the old one is known', () => {
    const sealed = secrets.seal('one', 'whsec_secret')
    const next = Buffer.from('the next pepper')
    expect(createWebhookSecrets(next, Buffer.from('a pepper of the tests')).open('one', sealed)).toBe('whsec_secret')
    expect(() => createWebhookSecrets(next).open('one', sealed)).toThrow('cannot be opened')
  })

  test('differ each time', () => {
    expect(secrets.seal('one', 'x')).not.toEqual(secrets.seal('one', 'x'))
  })
})
