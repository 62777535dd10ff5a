import { createCipheriv, createDecipheriv, randomBytes, scrypt as scryptCallback } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type FileHandle, link, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../../core/domain/errors.ts'

const scrypt = promisify<string, Buffer, number, ScryptCost & { maxmem: number }, Buffer>(scryptCallback)

/** RFC 7914 §2. */
export type ScryptCost = Readonly<{ N: number; r: number; p: number }>

/** The file: account keys in the clear, the seed under scrypt (RFC 7914) and AES-256-GCM (NIST SP 800-38D). */
export type KeystoreFile = Readonly<{
  version: 1
  /** Extended public keys by account path, for example `m/84'/0'/0'` (BIP-32). */
  accounts: Readonly<Record<string, string>>
  /** null in the public half, for processes that only show addresses. */
  seed: (ScryptCost & Readonly<{ kdf: 'scrypt'; salt: string; iv: string; tag: string; bytes: string }>) | null
}>

/** One guess takes about 0.4 s and 128 MB. */
export const COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 }
const MAX_MEMORY = 256 * 1024 * 1024

export async function encryptSeed(
  seed: Uint8Array,
  passphrase: string,
  accounts: KeystoreFile['accounts'],
  cost: ScryptCost,
): Promise<KeystoreFile> {
  const salt = randomBytes(32)
  const iv = randomBytes(12)
  const key = await scrypt(passphrase, salt, 32, { ...cost, maxmem: MAX_MEMORY })
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  // Authenticates the account keys together with the seed, so that neither can be replaced alone.
  cipher.setAAD(accountsBytes(accounts))
  const bytes = Buffer.concat([cipher.update(seed), cipher.final()])
  const hex = (buffer: Buffer) => buffer.toString('hex')
  return {
    version: 1,
    accounts,
    seed: { kdf: 'scrypt', ...cost, salt: hex(salt), iv: hex(iv), tag: hex(cipher.getAuthTag()), bytes: hex(bytes) },
  }
}

export async function decryptSeed({ seed, accounts }: KeystoreFile, passphrase: string): Promise<Uint8Array> {
  if (seed === null)
    throw new AppError('INTERNAL', 'this keystore has public keys alone: a worker needs the keystore with the seed')
  const key = await scrypt(passphrase, Buffer.from(seed.salt, 'hex'), 32, {
    N: seed.N,
    r: seed.r,
    p: seed.p,
    maxmem: MAX_MEMORY,
  })
  // Without a length Node accepts a tag of 4 bytes, which can be guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(seed.iv, 'hex'), { authTagLength: 16 })
  decipher.setAAD(accountsBytes(accounts))
  decipher.setAuthTag(Buffer.from(seed.tag, 'hex'))
  try {
    return Buffer.concat([decipher.update(Buffer.from(seed.bytes, 'hex')), decipher.final()])
  } catch (cause) {
    throw new AppError(
      'INTERNAL',
      'the keystore cannot be decrypted: the passphrase is wrong, or the file was changed',
      {
        cause,
      },
    )
  }
}

/** False if the file is the public half. */
export const hasSeed = (path: string): boolean => readKeystoreFile(path).seed !== null

const accountsBytes = (accounts: KeystoreFile['accounts']): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(accounts).sort()))

/** Writes the file atomically, readable by its owner only. Never overwrites an existing keystore: its keys may hold money. */
export async function writeKeystoreFile(path: string, file: KeystoreFile): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const handle: FileHandle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`)
    await handle.sync()
    // Unlike a rename, a link fails if the name exists.
    await link(draft, path)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
    throw new AppError('INTERNAL', `a keystore exists already at ${path} and is not overwritten`, { cause })
  } finally {
    await handle.close()
    await unlink(draft)
  }
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
}

export function readKeystoreFile(path: string): KeystoreFile {
  const file = JSON.parse(readFileSync(path, 'utf8')) as Partial<KeystoreFile>
  const isSealed = file.seed?.kdf === 'scrypt' && file.seed.N <= 2 ** 20
  if (file.version !== 1 || file.accounts === undefined || !(file.seed === null || isSealed)) {
    throw new AppError('INTERNAL', `${path} is not a keystore of this version`)
  }
  return file as KeystoreFile
}
