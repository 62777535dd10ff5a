import { readFileSync, statSync } from 'node:fs'
import { fail } from './print.ts'

/** The private key that a file holds, 64 hexadecimal digits. Never an argument or a variable: others may read both. */
export function readKeyFile(path: string): `0x${string}` {
  const text = read(path).trim()
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1]
  // Not a word of what stands there: it may be half of a key.
  return digits === undefined ? fail(`${path} holds no private key: 64 hexadecimal digits are one`) : `0x${digits}`
}

function read(path: string): string {
  let others: number
  let text: string
  try {
    others = statSync(path).mode & 0o077
    text = readFileSync(path, 'utf8')
  } catch {
    return fail(`${path} cannot be read`)
  }
  return others === 0 ? text : fail(`${path} is open to others: chmod 600 ${path}`)
}
