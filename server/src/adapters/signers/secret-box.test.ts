import { describe, expect, test } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const box = createSecretBox(Buffer.from('a pepper of the tests'))

describe('sealed secrets', () => {
  test('open for their owner alone, and do not contain the secret', () => {
    const sealed = box.seal('one', 'whsec_secret')
    expect(box.open('one', sealed)).toBe('whsec_secret')
    expect(sealed.includes('whsec')).toBe(false)
    expect(() => box.open('two', sealed)).toThrow('cannot be opened')
    sealed.writeUInt8((sealed.at(-1) ?? 0) ^ 1, sealed.length - 1)
    expect(() => box.open('one', sealed)).toThrow('cannot be opened')
  })

  test('open after a change of the pepper, as long as the old one is known', () => {
    const sealed = box.seal('one', 'whsec_secret')
    const next = Buffer.from('the next pepper')
    expect(createSecretBox(next, Buffer.from('a pepper of the tests')).open('one', sealed)).toBe('whsec_secret')
    expect(() => createSecretBox(next).open('one', sealed)).toThrow('cannot be opened')
  })

  test('differ each time', () => {
    expect(box.seal('one', 'x')).not.toEqual(box.seal('one', 'x'))
  })
})
