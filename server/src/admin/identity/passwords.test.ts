import { expect, test } from 'vitest'
import type { Guesser } from './guess-queue.ts'
import { admitGuess, isPassword } from './passwords.ts'

const guesser: Guesser = { isKnown: true, signal: null }
const check = (password: string, stored: string | null) =>
  admitGuess(guesser, () => isPassword(password, stored, guesser))

/** The third vector of RFC 7914, section 12, whose cost is not the program's own. Its first 32 bytes are a key of 32 bytes. */
const salt = Buffer.from('NaCl').toString('base64url')
const key = Buffer.from('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162', 'hex').toString('base64url')

test('a password is verified with the cost that is stored with its hash', async () => {
  expect(await check('password', `scrypt$1024$8$16$${salt}$${key}`)).toBe(true)
  expect(await check('another one', `scrypt$1024$8$16$${salt}$${key}`)).toBe(false)
  expect(await check('password', `scrypt$1024$8$15$${salt}$${key}`)).toBe(false)
  expect(await check('password', null)).toBe(false)
})

test('a stored cost above what the program may use is refused', async () => {
  await expect(check('password', `scrypt$1024$8$17$${salt}$${key}`)).rejects.toThrow('cost')
  await expect(check('password', `scrypt$1048576$8$1$${salt}$${key}`)).rejects.toThrow()
  await expect(check('password', `scrypt$$$$${salt}$${key}`)).rejects.toThrow('cost')
})
