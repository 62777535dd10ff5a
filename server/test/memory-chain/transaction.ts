import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPoint, readAddress } from '../../src/adapters/chains/shared/account-address.ts'
import type { FamilySigner } from '../../src/exchange/ports/signer.ts'
import { assert } from '../../src/lib/assert.ts'

/** The unsigned content of a transaction on the simulated chain. */
export type Body = Readonly<{
  chainId: number
  nonce: number
  to: string
  contract: string | null
  units: bigint
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}>

export type SignedTransaction = Readonly<{ hash: string; sender: string; body: Body }>

/** Half the order of secp256k1. A signature with a higher s value is a malleated copy (EIP-2). */
const HALF_ORDER = secp256k1.Point.CURVE().n / 2n
const RAW_MAX = 4_000
/** Public keys in the cache. */
const KEYS_MAX = 10_000

/** Builds and signs the transaction of the intent. Deterministic (RFC 6979): signing twice gives the same bytes. */
export const signMemory: FamilySigner = (intent, keys) => {
  assert(intent.family === 'evm', 'the simulated chain has accounts')
  const { pay, chainId, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = intent
  assert(pay.units > 0n && pay.memo === null, 'a pay has units and no memo')
  assert(readAddress(pay.address) === pay.address, 'the recipient is a canonical address')
  assert(pay.asset.network === intent.network, 'the asset is of the network')
  const privateKey = keys.privateKey(intent.from)
  const point = pointOf(privateKey)
  const call =
    intent.cancels === true
      ? { to: addressOfPoint(point), contract: null, units: 0n }
      : { to: pay.address, contract: pay.asset.contract, units: pay.units }
  const body: Body = {
    chainId,
    nonce,
    ...call,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
  }
  const text = bodyText(body)
  const signature = secp256k1.sign(Buffer.from(text), privateKey)
  const raw = toHex(JSON.stringify([text, Buffer.from(point).toString('hex'), Buffer.from(signature).toString('hex')]))
  return { txHash: hashOf(raw), raw }
}

/** Caches the public key, whose computation is expensive. Indexed by the private key's hash: private keys are not stored. */
function pointOf(privateKey: Uint8Array): Uint8Array {
  const name = hash('sha256', privateKey, 'hex')
  const point = points.get(name) ?? secp256k1.getPublicKey(privateKey, false)
  if (points.size >= KEYS_MAX) points.clear()
  points.set(name, point)
  return point
}

const points = new Map<string, Uint8Array>()

export function hashOf(raw: string): string {
  return `0x${hash('sha256', raw, 'hex')}`
}

/** Reads signed bytes and checks the signature. null for anything but a valid signed transaction. */
export function readTransaction(raw: string): SignedTransaction | null {
  const parts = raw.length <= RAW_MAX ? partsOf(raw) : null
  if (parts === null) return null
  const [text, pointHex, signatureHex] = parts
  const body = bodyOf(text)
  const point = Buffer.from(pointHex, 'hex')
  const signature = Buffer.from(signatureHex, 'hex')
  if (body === null || point.length !== 65 || point[0] !== 4 || signature.length !== 64) return null
  // A transaction has one encoding: reject bytes that differ from our own encoding of the same content.
  if (toHex(JSON.stringify([bodyText(body), point.toString('hex'), signature.toString('hex')])) !== raw) return null
  if (BigInt(`0x${signatureHex.slice(64)}`) > HALF_ORDER) return null
  const key = nativeKey(point)
  if (key === null || !verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature)) return null
  return { hash: hashOf(raw), sender: addressOfPoint(point), body }
}

function bodyText(body: Body): string {
  const { chainId, nonce, to, contract, units, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = body
  const amounts = [units, gasLimit, maxFeePerGas, maxPriorityFeePerGas].map(String)
  return JSON.stringify([chainId, nonce, to, contract, ...amounts])
}

function bodyOf(text: string): Body | null {
  const parts = parseList(text)
  if (parts?.length !== 8) return null
  const [chainId, nonce, to, contract, ...amounts] = parts
  const [units, gasLimit, maxFeePerGas, maxPriorityFeePerGas] = amounts.map(toUnits)
  if (!isCount(chainId) || !isCount(nonce) || !isAddress(to) || !(contract === null || isAddress(contract))) return null
  if (units == null || gasLimit == null || maxFeePerGas == null || maxPriorityFeePerGas == null) return null
  return { chainId, nonce, to, contract, units, gasLimit, maxFeePerGas, maxPriorityFeePerGas }
}

function partsOf(raw: string): readonly [string, string, string] | null {
  if (!/^0x(?:[0-9a-f]{2})+$/.test(raw)) return null
  const [text, point, signature, ...rest] = parseList(Buffer.from(raw.slice(2), 'hex').toString('utf8')) ?? []
  const areTexts = typeof text === 'string' && typeof point === 'string' && typeof signature === 'string'
  return areTexts && rest.length === 0 ? [text, point, signature] : null
}

function parseList(text: string): readonly unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && typeof value === 'number' && value >= 0
const isAddress = (value: unknown): value is string => typeof value === 'string' && readAddress(value) === value
const toUnits = (value: unknown): bigint | null =>
  typeof value === 'string' && /^(?:0|[1-9][0-9]{0,77})$/.test(value) ? BigInt(value) : null
const toHex = (text: string): string => `0x${Buffer.from(text, 'utf8').toString('hex')}`

const nativeKeys = new Map<string, KeyObject | null>()

/** OpenSSL verifies signatures four times as fast as JavaScript. null if the point is not on the curve. */
function nativeKey(point: Buffer): KeyObject | null {
  const name = point.toString('hex')
  const cached = nativeKeys.get(name)
  if (cached !== undefined) return cached
  if (nativeKeys.size >= KEYS_MAX) nativeKeys.clear()
  const part = (from: number) => point.subarray(from, from + 32).toString('base64url')
  const key = secp256k1.utils.isValidPublicKey(point, false)
    ? createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'secp256k1', x: part(1), y: part(33) } })
    : null
  nativeKeys.set(name, key)
  return key
}
