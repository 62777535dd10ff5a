import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readKeyFile } from './key-file.ts'
import { CommandError } from './print.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

const digits = '0123456789abcdef'.repeat(4)
const path = join(folder, 'key')
const written = (content: string, mode = 0o600) => {
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

test.each([digits, `0x${digits}`, `${digits.toUpperCase()}\n`])('reads %j', (content) => {
  expect(readKeyFile(written(content, 0o400)).toLowerCase()).toBe(`0x${digits}`)
})

test.each([0o640, 0o604, 0o620, 0o666])('refuses a file that other users can open: mode %o', (mode) => {
  expect(() => readKeyFile(written(digits, mode))).toThrow(
    `${path} is accessible to other users; run chmod 600 ${path}`,
  )
})

test.each(['', digits.slice(1), `${digits}0`, `${digits}\n${digits}`, 'test test test junk'])(
  'refuses %j',
  (content) => {
    // The message is the same for any content, which may be part of a key.
    expect(() => readKeyFile(written(content))).toThrow(
      new CommandError(`${path} does not contain a private key (64 hexadecimal digits)`),
    )
  },
)

test('refuses a missing file', () => {
  expect(() => readKeyFile(join(folder, 'absent'))).toThrow('cannot be read')
})
