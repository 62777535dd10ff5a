import { ed25519 } from '@noble/curves/ed25519.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'
import { base32nopad, base58, base58xmr, base58xrp, base64urlnopad, bech32, createBase58check } from '@scure/base'
import { p2ms, p2pkh, p2sh, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer'
import { privateKeyToAccount } from 'viem/accounts'
import type { Environment } from '../../../src/core/domain/network.ts'

/** One form of address of one network in one environment, derived by libraries that know nothing of our patterns. */
export type AddressForm = Readonly<{
  network: string
  environment: Environment
  name: string
  /** Address of a private key (32 bytes, already a hash: never out of range). */
  derive(key: Uint8Array): string
  /** Characters that this form never has. */
  illegal: string
  /** False where the length varies, so that a lost character cannot be seen without the checksum. */
  fixedLength: boolean
}>

export const base58check = createBase58check(sha256)
const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes))
const doubleSha256 = (bytes: Uint8Array) => sha256(sha256(bytes))

/** CRC-16/XMODEM, as Stellar (SEP-23) and TON (TEP-2) use it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}

const BECH32_LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

/** CashAddr checksum, by its specification (BCH 2017-10 "CashAddr"). */
function cashAddrPolymod(values: readonly number[]): bigint {
  const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]
  let checksum = 1n
  for (const value of values) {
    const top = checksum >> 35n
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(value)
    for (const [i, generator] of generators.entries()) if ((top >> BigInt(i)) & 1n) checksum ^= generator
  }
  return checksum ^ 1n
}

export function cashAddr(prefix: string, version: number, hash: Uint8Array): string {
  const words = bech32.toWords(concatBytes(Uint8Array.of(version), hash))
  const prefixWords = [...prefix].map((letter) => letter.charCodeAt(0) & 31)
  const checksum = cashAddrPolymod([...prefixWords, 0, ...words, 0, 0, 0, 0, 0, 0, 0, 0])
  const checksumWords = Array.from({ length: 8 }, (_, i) => Number((checksum >> BigInt(5 * (7 - i))) & 31n))
  const letters = [...words, ...checksumWords].map((word) => BECH32_LETTERS.charAt(word))
  return `${prefix}:${letters.join('')}`
}

/** Edwards point of a private key, compressed. */
const edwards = (key: Uint8Array) => ed25519.getPublicKey(key)

/** Monero, "Addresses": network byte, public spend key, public view key, four bytes of Keccak. */
export function moneroAddress(networkByte: number, key: Uint8Array, paymentId: Uint8Array = new Uint8Array()): string {
  const body = concatBytes(Uint8Array.of(networkByte), edwards(key), edwards(sha256(key)), paymentId)
  return base58xmr.encode(concatBytes(body, keccak_256(body).subarray(0, 4)))
}

export function rippleAddress(payload: Uint8Array): string {
  return base58xrp.encode(concatBytes(payload, doubleSha256(payload).subarray(0, 4)))
}

/** XLS-5: prefix, account, flag, tag in little endian on eight bytes. */
function rippleXAddress(prefix: readonly number[], key: Uint8Array): string {
  const tag = Uint8Array.of(1, ...key.subarray(0, 4), 0, 0, 0, 0)
  return rippleAddress(concatBytes(Uint8Array.from(prefix), hash160(secp256k1.getPublicKey(key)), tag))
}

export function stellarAddress(publicKey: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(6 << 3), publicKey)
  const crc = crc16(body)
  return base32nopad.encode(concatBytes(body, Uint8Array.of(crc & 255, crc >> 8)))
}

export function tonAddress(tag: number, hash: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(tag, 0), hash)
  const crc = crc16(body)
  return base64urlnopad.encode(concatBytes(body, Uint8Array.of(crc >> 8, crc & 255)))
}

export function tronAddress(key: Uint8Array): string {
  const hash = keccak_256(secp256k1.getPublicKey(key, false).subarray(1))
  return base58check.encode(concatBytes(Uint8Array.of(0x41), hash.subarray(12)))
}

const BASE58_ILLEGAL = '0OIl+/_ '
const BECH32_ILLEGAL = 'bio1B-'

type Bytes = Readonly<{ bech32: string | null; pubKeyHash: number; scriptHash: number }>

/**
 * Prefixes as the nodes' own `chainparams.cpp` have them (Bitcoin Core 27, Litecoin Core 0.21, Dogecoin Core 1.14);
 * Litecoin has two forms of P2SH in each.
 */
const bitcoinLike: readonly (readonly [string, Environment, Bytes])[] = [
  ['btc', 'production', { bech32: 'bc', pubKeyHash: 0, scriptHash: 5 }],
  ['btc', 'sandbox', { bech32: 'bcrt', pubKeyHash: 111, scriptHash: 196 }],
  ['ltc', 'production', { bech32: 'ltc', pubKeyHash: 48, scriptHash: 50 }],
  ['ltc', 'production', { bech32: null, pubKeyHash: 48, scriptHash: 5 }],
  ['ltc', 'sandbox', { bech32: 'rltc', pubKeyHash: 111, scriptHash: 58 }],
  ['ltc', 'sandbox', { bech32: null, pubKeyHash: 111, scriptHash: 196 }],
  ['doge', 'production', { bech32: null, pubKeyHash: 30, scriptHash: 22 }],
  ['doge', 'sandbox', { bech32: null, pubKeyHash: 111, scriptHash: 196 }],
]

function bitcoinForms(network: string, environment: Environment, bytes: Bytes): AddressForm[] {
  const params = { ...bytes, bech32: bytes.bech32 ?? 'none', wif: 0 }
  const form = (
    name: string,
    illegal: string,
    derive: (publicKey: Uint8Array, key: Uint8Array) => string | undefined,
  ) => ({
    network,
    environment,
    name: `${name} of version ${name === 'p2sh' ? bytes.scriptHash : bytes.pubKeyHash}`,
    derive: (key: Uint8Array) => derive(secp256k1.getPublicKey(key), key) ?? '',
    illegal,
    fixedLength: !(name === 'p2pkh' && bytes.pubKeyHash === 0),
  })
  const segwit = [
    form('p2wpkh', BECH32_ILLEGAL, (publicKey) => p2wpkh(publicKey, params).address),
    form('p2wpkh in capitals', BECH32_ILLEGAL, (publicKey) => p2wpkh(publicKey, params).address?.toUpperCase()),
    form('p2wsh', BECH32_ILLEGAL, (publicKey) => p2wsh(p2ms(1, [publicKey]), params).address),
    form('p2tr', BECH32_ILLEGAL, (_, key) => p2tr(schnorr.getPublicKey(key), undefined, params).address),
  ]
  return [
    form('p2pkh', BASE58_ILLEGAL, (publicKey) => p2pkh(publicKey, params).address),
    form('p2sh', BASE58_ILLEGAL, (publicKey) => p2sh(p2ms(1, [publicKey]), params).address),
    ...(bytes.bech32 === null ? [] : segwit),
  ]
}

function cashForms(environment: Environment, prefix: string): AddressForm[] {
  const form = (name: string, derive: (hash: Uint8Array) => string) => ({
    network: 'bch',
    environment,
    name,
    derive: (key: Uint8Array) => derive(hash160(secp256k1.getPublicKey(key))),
    illegal: BECH32_ILLEGAL,
    fixedLength: true,
  })
  return [
    form('p2pkh', (hash) => cashAddr(prefix, 0, hash)),
    form('p2sh', (hash) => cashAddr(prefix, 8, hash)),
    form('p2pkh without its prefix', (hash) => cashAddr(prefix, 0, hash).slice(prefix.length + 1)),
    form('p2pkh in capitals', (hash) => cashAddr(prefix, 0, hash).toUpperCase()),
  ]
}

const evmNetworks = ['eth', 'arbitrum', 'base', 'bsc', 'cchain', 'celo', 'linea', 'matic', 'op', 'sei', 'sonic', 'uni']

/** Forms that are the same in both environments. */
function otherForms(environment: Environment): AddressForm[] {
  const isMain = environment === 'production'
  const form = (
    network: string,
    name: string,
    illegal: string,
    fixedLength: boolean,
    derive: AddressForm['derive'],
  ) => ({
    network,
    environment,
    name,
    illegal,
    fixedLength,
    derive,
  })
  const account = (key: Uint8Array): string => privateKeyToAccount(`0x${bytesToHex(key)}`).address
  return [
    ...evmNetworks.flatMap((network) => [
      form(network, 'account', 'gGzI:', true, account),
      form(network, 'account in lower case', 'gGzI:', true, (key) => account(key).toLowerCase()),
    ]),
    form('xmr', 'standard', BASE58_ILLEGAL, true, (key) => moneroAddress(18, key)),
    form('xmr', 'subaddress', BASE58_ILLEGAL, true, (key) => moneroAddress(42, key)),
    form('xmr', 'integrated', BASE58_ILLEGAL, true, (key) => moneroAddress(19, key, key.subarray(0, 8))),
    form('sol', 'account', BASE58_ILLEGAL, false, (key) => base58.encode(edwards(key))),
    // Sui: Blake2b-256 of the scheme's flag and the public key.
    form(
      'sui',
      'ed25519',
      'gGzI:',
      true,
      (key) => `0x${bytesToHex(blake2b(concatBytes(Uint8Array.of(0), edwards(key)), { dkLen: 32 }))}`,
    ),
    form('xrp', 'classic, secp256k1', BASE58_ILLEGAL, false, (key) =>
      rippleAddress(concatBytes(Uint8Array.of(0), hash160(secp256k1.getPublicKey(key)))),
    ),
    form('xrp', 'classic, ed25519', BASE58_ILLEGAL, false, (key) =>
      rippleAddress(concatBytes(Uint8Array.of(0), hash160(concatBytes(Uint8Array.of(0xed), edwards(key))))),
    ),
    form('xrp', 'X-address', BASE58_ILLEGAL, true, (key) => rippleXAddress(isMain ? [0x05, 0x44] : [0x04, 0x93], key)),
    form('xlm', 'account', '0189a-', true, (key) => stellarAddress(edwards(key))),
    form('ton', 'bounceable', '+/= .', true, (key) => tonAddress(isMain ? 0x11 : 0x91, sha512(key).subarray(0, 32))),
    form('ton', 'not bounceable', '+/= .', true, (key) =>
      tonAddress(isMain ? 0x51 : 0xd1, sha512(key).subarray(0, 32)),
    ),
    form('trx', 'account', BASE58_ILLEGAL, true, tronAddress),
  ]
}

export const addressForms: readonly AddressForm[] = [
  ...bitcoinLike.flatMap(([network, environment, bytes]) => bitcoinForms(network, environment, bytes)),
  ...cashForms('production', 'bitcoincash'),
  ...cashForms('sandbox', 'bchreg'),
  ...otherForms('production'),
  ...otherForms('sandbox'),
]
