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

/** One address format of a network in one environment, derived by libraries that are independent of our patterns. */
export type AddressFormat = Readonly<{
  network: string
  environment: Environment
  name: string
  /** Derives the address of a private key: 32 bytes, hashed, so always in range. */
  derive(key: Uint8Array): string
  /** Characters that never occur in this format. */
  illegal: string
  /** False if the length varies: only the checksum reveals a missing character. */
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

/** CashAddr checksum of the specification (BCH 2017-10 "CashAddr"). */
function computeCashAddrChecksum(values: readonly number[]): bigint {
  const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]
  let checksum = 1n
  for (const value of values) {
    const top = checksum >> 35n
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(value)
    for (const [i, generator] of generators.entries()) if ((top >> BigInt(i)) & 1n) checksum ^= generator
  }
  return checksum ^ 1n
}

export function encodeCashAddr(prefix: string, version: number, hash: Uint8Array): string {
  const words = bech32.toWords(concatBytes(Uint8Array.of(version), hash))
  const prefixWords = [...prefix].map((letter) => letter.charCodeAt(0) & 31)
  const checksum = computeCashAddrChecksum([...prefixWords, 0, ...words, 0, 0, 0, 0, 0, 0, 0, 0])
  const checksumWords = Array.from({ length: 8 }, (_, i) => Number((checksum >> BigInt(5 * (7 - i))) & 31n))
  const letters = [...words, ...checksumWords].map((word) => BECH32_LETTERS.charAt(word))
  return `${prefix}:${letters.join('')}`
}

/** Compressed Ed25519 public key of a private key. */
const deriveEdwardsKey = (key: Uint8Array) => ed25519.getPublicKey(key)

/** Monero, "Addresses": network byte, public spend key, public view key, four bytes of Keccak. */
export function deriveMoneroAddress(
  networkByte: number,
  key: Uint8Array,
  paymentId: Uint8Array = new Uint8Array(),
): string {
  const body = concatBytes(Uint8Array.of(networkByte), deriveEdwardsKey(key), deriveEdwardsKey(sha256(key)), paymentId)
  return base58xmr.encode(concatBytes(body, keccak_256(body).subarray(0, 4)))
}

export function encodeRippleAddress(payload: Uint8Array): string {
  return base58xrp.encode(concatBytes(payload, doubleSha256(payload).subarray(0, 4)))
}

/** XLS-5: prefix, account, flag, and the tag as eight bytes in little endian. */
function deriveRippleXAddress(prefix: readonly number[], key: Uint8Array): string {
  const tag = Uint8Array.of(1, ...key.subarray(0, 4), 0, 0, 0, 0)
  return encodeRippleAddress(concatBytes(Uint8Array.from(prefix), hash160(secp256k1.getPublicKey(key)), tag))
}

export function encodeStellarAddress(publicKey: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(6 << 3), publicKey)
  const crc = crc16(body)
  return base32nopad.encode(concatBytes(body, Uint8Array.of(crc & 255, crc >> 8)))
}

export function encodeTonAddress(tag: number, hash: Uint8Array): string {
  const body = concatBytes(Uint8Array.of(tag, 0), hash)
  const crc = crc16(body)
  return base64urlnopad.encode(concatBytes(body, Uint8Array.of(crc >> 8, crc & 255)))
}

export function deriveTronAddress(key: Uint8Array): string {
  const hash = keccak_256(secp256k1.getPublicKey(key, false).subarray(1))
  return base58check.encode(concatBytes(Uint8Array.of(0x41), hash.subarray(12)))
}

const BASE58_ILLEGAL = '0OIl+/_ '
const BECH32_ILLEGAL = 'bio1B-'

type Prefixes = Readonly<{ bech32: string | null; pubKeyHash: number; scriptHash: number }>

/**
 * Prefixes from `chainparams.cpp` of Bitcoin Core 27, Litecoin Core 0.21 and Dogecoin Core 1.14. Litecoin has two P2SH
 * formats in each environment.
 */
const bitcoinLike: readonly (readonly [string, Environment, Prefixes])[] = [
  ['btc', 'production', { bech32: 'bc', pubKeyHash: 0, scriptHash: 5 }],
  ['btc', 'sandbox', { bech32: 'bcrt', pubKeyHash: 111, scriptHash: 196 }],
  ['ltc', 'production', { bech32: 'ltc', pubKeyHash: 48, scriptHash: 50 }],
  ['ltc', 'production', { bech32: null, pubKeyHash: 48, scriptHash: 5 }],
  ['ltc', 'sandbox', { bech32: 'rltc', pubKeyHash: 111, scriptHash: 58 }],
  ['ltc', 'sandbox', { bech32: null, pubKeyHash: 111, scriptHash: 196 }],
  ['doge', 'production', { bech32: null, pubKeyHash: 30, scriptHash: 22 }],
  ['doge', 'sandbox', { bech32: null, pubKeyHash: 111, scriptHash: 196 }],
]

function listBitcoinFormats(network: string, environment: Environment, bytes: Prefixes): AddressFormat[] {
  const params = { ...bytes, bech32: bytes.bech32 ?? 'none', wif: 0 }
  const format = (
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
    format('p2wpkh', BECH32_ILLEGAL, (publicKey) => p2wpkh(publicKey, params).address),
    format('p2wpkh in capitals', BECH32_ILLEGAL, (publicKey) => p2wpkh(publicKey, params).address?.toUpperCase()),
    format('p2wsh', BECH32_ILLEGAL, (publicKey) => p2wsh(p2ms(1, [publicKey]), params).address),
    format('p2tr', BECH32_ILLEGAL, (_, key) => p2tr(schnorr.getPublicKey(key), undefined, params).address),
  ]
  return [
    format('p2pkh', BASE58_ILLEGAL, (publicKey) => p2pkh(publicKey, params).address),
    format('p2sh', BASE58_ILLEGAL, (publicKey) => p2sh(p2ms(1, [publicKey]), params).address),
    ...(bytes.bech32 === null ? [] : segwit),
  ]
}

function listCashAddrFormats(environment: Environment, prefix: string): AddressFormat[] {
  const format = (name: string, derive: (hash: Uint8Array) => string) => ({
    network: 'bch',
    environment,
    name,
    derive: (key: Uint8Array) => derive(hash160(secp256k1.getPublicKey(key))),
    illegal: BECH32_ILLEGAL,
    fixedLength: true,
  })
  return [
    format('p2pkh', (hash) => encodeCashAddr(prefix, 0, hash)),
    format('p2sh', (hash) => encodeCashAddr(prefix, 8, hash)),
    format('p2pkh without its prefix', (hash) => encodeCashAddr(prefix, 0, hash).slice(prefix.length + 1)),
    format('p2pkh in capitals', (hash) => encodeCashAddr(prefix, 0, hash).toUpperCase()),
  ]
}

const evmNetworks = ['eth', 'arbitrum', 'base', 'bsc', 'cchain', 'celo', 'linea', 'matic', 'op', 'sei', 'sonic', 'uni']

/** Formats of all other networks. Most are the same in both environments. */
function listOtherFormats(environment: Environment): AddressFormat[] {
  const isMain = environment === 'production'
  const format = (
    network: string,
    name: string,
    illegal: string,
    fixedLength: boolean,
    derive: AddressFormat['derive'],
  ) => ({
    network,
    environment,
    name,
    illegal,
    fixedLength,
    derive,
  })
  const deriveEvmAddress = (key: Uint8Array): string => privateKeyToAccount(`0x${bytesToHex(key)}`).address
  return [
    ...evmNetworks.flatMap((network) => [
      format(network, 'account', 'gGzI:', true, deriveEvmAddress),
      format(network, 'account in lower case', 'gGzI:', true, (key) => deriveEvmAddress(key).toLowerCase()),
    ]),
    format('xmr', 'standard', BASE58_ILLEGAL, true, (key) => deriveMoneroAddress(18, key)),
    format('xmr', 'subaddress', BASE58_ILLEGAL, true, (key) => deriveMoneroAddress(42, key)),
    format('xmr', 'integrated', BASE58_ILLEGAL, true, (key) => deriveMoneroAddress(19, key, key.subarray(0, 8))),
    format('sol', 'account', BASE58_ILLEGAL, false, (key) => base58.encode(deriveEdwardsKey(key))),
    // Sui: Blake2b-256 of the scheme's flag and the public key.
    format(
      'sui',
      'ed25519',
      'gGzI:',
      true,
      (key) => `0x${bytesToHex(blake2b(concatBytes(Uint8Array.of(0), deriveEdwardsKey(key)), { dkLen: 32 }))}`,
    ),
    format('xrp', 'classic, secp256k1', BASE58_ILLEGAL, false, (key) =>
      encodeRippleAddress(concatBytes(Uint8Array.of(0), hash160(secp256k1.getPublicKey(key)))),
    ),
    format('xrp', 'classic, ed25519', BASE58_ILLEGAL, false, (key) =>
      encodeRippleAddress(
        concatBytes(Uint8Array.of(0), hash160(concatBytes(Uint8Array.of(0xed), deriveEdwardsKey(key)))),
      ),
    ),
    format('xrp', 'X-address', BASE58_ILLEGAL, true, (key) =>
      deriveRippleXAddress(isMain ? [0x05, 0x44] : [0x04, 0x93], key),
    ),
    format('xlm', 'account', '0189a-', true, (key) => encodeStellarAddress(deriveEdwardsKey(key))),
    format('ton', 'bounceable', '+/= .', true, (key) =>
      encodeTonAddress(isMain ? 0x11 : 0x91, sha512(key).subarray(0, 32)),
    ),
    format('ton', 'not bounceable', '+/= .', true, (key) =>
      encodeTonAddress(isMain ? 0x51 : 0xd1, sha512(key).subarray(0, 32)),
    ),
    format('trx', 'account', BASE58_ILLEGAL, true, deriveTronAddress),
  ]
}

export const addressFormats: readonly AddressFormat[] = [
  ...bitcoinLike.flatMap(([network, environment, bytes]) => listBitcoinFormats(network, environment, bytes)),
  ...listCashAddrFormats('production', 'bitcoincash'),
  ...listCashAddrFormats('sandbox', 'bchreg'),
  ...listOtherFormats('production'),
  ...listOtherFormats('sandbox'),
]
