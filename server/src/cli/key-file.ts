import { readFileSync, statSync } from 'node:fs'
import { fail } from './print.ts'

/** Reads a private key from a file: 64 hexadecimal digits. Arguments and variables can be read by other users. */
export function readKeyFile(path: string): `0x${string}` {
  const text = read(path).trim()
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1]
  // The error never shows the content: it may be part of a key.
  return digits === undefined ? fail(`${path} does not contain a private key (64 hexadecimal digits)`) : `0x${digits}`
}

function read(path: string): string {
  let permissionsOfOthers: number
  let text: string
  try {
    permissionsOfOthers = statSync(path).mode & 0o077
    text = readFileSync(path, 'utf8')
  } catch {
    return fail(`${path} cannot be read`)
  }
  return permissionsOfOthers === 0 ? text : fail(`${path} is accessible to other users; run chmod 600 ${path}`)
}
