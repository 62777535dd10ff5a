import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'

export const systemProgram = '11111111111111111111111111111111'
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
export const metaplexProgram = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
export const wrappedSol = 'So11111111111111111111111111111111111111112'

const ADDRESS_BYTES = 32
const MARK = Buffer.from('ProgramDerivedAddress')

/** Whether a key can have signed: addresses of programs are off the curve. */
export function isOnCurve(address: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(address)
    return true
  } catch {
    return false
  }
}

/** The address that a program derives from seeds: the first off the curve, with a byte from 255 downwards. */
export function deriveAddress(program: string, seeds: readonly Uint8Array[]): string {
  for (let bump = 255; bump >= 0; bump--) {
    const bytes = Buffer.concat([...seeds, Buffer.from([bump]), base58.decode(program), MARK])
    const address = createHash('sha256').update(bytes).digest()
    if (!isOnCurve(address)) return base58.encode(address)
  }
  throw new Error(`no address of ${program} for these seeds`)
}

/** Addresses that are kept; every read of a pool needs those of its ticks or bins. */
const DERIVED_MAX = 20_000
const derived = new Map<string, string>()

/** As `deriveAddress`, but computed once. */
export function deriveOnce(program: string, seeds: readonly Uint8Array[]): string {
  const key = [program, ...seeds.map((seed) => Buffer.from(seed).toString('base64'))].join(' ')
  const known = derived.get(key)
  if (known !== undefined) return known
  if (derived.size >= DERIVED_MAX) derived.clear()
  const address = deriveAddress(program, seeds)
  derived.set(key, address)
  return address
}

/** The token account that wallets use for a mint. */
export function associatedToken(owner: string, mint: string, program: string): string {
  return deriveOnce(
    associatedTokenProgram,
    [owner, program, mint].map((one) => base58.decode(one)),
  )
}

/** The account of Metaplex's program that names a mint. */
export const metadataAddress = (mint: string): string =>
  deriveAddress(metaplexProgram, [Buffer.from('metadata'), base58.decode(metaplexProgram), base58.decode(mint)])

/** The bytes of base58 text if there are exactly this many. */
export function readBase58(text: string, bytes: number): Uint8Array | null {
  // Base58 needs at most 1.37 characters a byte; longer text is not decoded.
  if (text.length > Math.ceil(bytes * 1.4)) return null
  try {
    const decoded = base58.decode(text)
    return decoded.length === bytes ? decoded : null
  } catch {
    return null
  }
}

export const readAddress = (text: string): Uint8Array | null => readBase58(text, ADDRESS_BYTES)
