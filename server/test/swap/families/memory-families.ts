import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { sol } from '../../../networks/sol.ts'
import { sui } from '../../../networks/sui.ts'
import { type Network, resolveNetwork } from '../../../src/core/domain/network.ts'
import type { AddressFormat } from '../../../src/swap/ports/swap-chain.ts'

/** A network family without EVM's forms, for a chain in memory. */
export type MemoryFamily = AddressFormat &
  Readonly<{
    network: Network
    addressOf(publicKey: Uint8Array): string
    hashOf(signature: Uint8Array): string
    /** A second address of a token that differs from the first in the case of letters alone. */
    tokens: readonly [string, string]
    /** `height`: a transaction names a recent block, and its expiry follows; `epoch`: it states its last epoch. */
    expiresBy: 'height' | 'epoch'
    keepsPending: boolean
  }>

/** The text if it is base58 of `bytes` bytes. */
function readBase58(text: string, bytes: number): string | null {
  try {
    return base58.decode(text).length === bytes ? text : null
  } catch {
    // Not base58.
    return null
  }
}

const seeded = (seed: string): Uint8Array => createHash('sha256').update(seed).digest()

/** Base58 distinguishes `a` from `A`: changes the case of one letter so that the text still has 32 bytes. */
function changeCase(address: string): string {
  for (let at = 1; at < address.length; at++) {
    const letter = address.charAt(at)
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    const changed = address.slice(0, at) + other + address.slice(at + 1)
    if (other !== letter && readBase58(changed, 32) !== null) return changed
  }
  throw new Error(`${address} has no letter of two cases`)
}

const solNative = 'So11111111111111111111111111111111111111112'
const systemProgram = '11111111111111111111111111111111'
const solToken = base58.encode(seeded('a mint'))

/** Base58 addresses and hashes, expiry by the height of a recent block, no mempool. Pools hold the wrapped coin, which is `native`. */
const byHeight: MemoryFamily = {
  network: resolveNetwork(sol, 'sandbox'),
  native: solNative,
  hashForm: 'base58 of 64 bytes',
  parse: (text) => readBase58(text, 32),
  parseAccount: (text) => (text === solNative || text === systemProgram ? null : readBase58(text, 32)),
  parseHash: (text) => readBase58(text, 64),
  formatAddress: (address) => address,
  addressOf: (publicKey) => base58.encode(publicKey),
  hashOf: (signature) => base58.encode(signature),
  tokens: [solToken, changeCase(solToken)],
  expiresBy: 'height',
  keepsPending: false,
}

const suiNative = '0x2::sui::SUI'
const ACCOUNT = /^0x[0-9a-fA-F]{64}$/
const COIN = /^0x([0-9a-fA-F]{1,64})::(\w+)::(\w+)$/
const suiPackage = `0x${'ab'.repeat(32)}`

function parseCoin(text: string): string | null {
  const [, digits = '', module, name] = COIN.exec(text) ?? []
  if (module === undefined) return null
  const short = `0x${digits.toLowerCase().replace(/^0+/, '')}::${module}::${name}`
  return short === suiNative ? suiNative : `0x${digits.toLowerCase().padStart(64, '0')}::${module}::${name}`
}

/** Hexadecimal accounts, coin types with case-sensitive names, base58 digests, expiry by epoch, a mempool. */
const byEpoch: MemoryFamily = {
  network: resolveNetwork(sui, 'sandbox'),
  native: suiNative,
  hashForm: 'base58 of 32 bytes',
  parse: parseCoin,
  parseAccount: (text) => (ACCOUNT.test(text) ? text.toLowerCase() : null),
  parseHash: (text) => readBase58(text, 32),
  formatAddress: (address) => address,
  addressOf: (publicKey) => `0x${createHash('sha256').update(publicKey).digest('hex')}`,
  hashOf: (signature) => base58.encode(createHash('sha256').update(signature).digest()),
  tokens: [`${suiPackage}::coin::USDC`, `${suiPackage}::coin::usdc`],
  expiresBy: 'epoch',
  keepsPending: true,
}

export const memoryFamilies = [byHeight, byEpoch] as const
