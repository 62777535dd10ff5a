import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { checksumAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { base } from '../../../../networks/base.ts'
import { eth } from '../../../../networks/eth.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { addressOfKey, createEvmAddresses, parseAddress } from './address.ts'

/** The examples of EIP-55. */
const checksummed = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]
const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7'

function addresses(requests: [number, KeyPath][] = [], definition = eth) {
  const keyOf = (isCompressed: boolean) => (coinType: number, path: KeyPath) => {
    requests.push([coinType, path])
    return secp256k1.getPublicKey(new Uint8Array(32).fill(path.index + 1), isCompressed)
  }
  const publicKeys = { publicKey: keyOf(true), uncompressedKey: keyOf(false) }
  return createEvmAddresses(resolveNetwork(definition, 'production'), publicKeys, [usdt])
}

const bytes20 = fc.uint8Array({ minLength: 20, maxLength: 20 })
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('an address', () => {
  test.each(checksummed)('%s of EIP-55 is its own canonical form', (text) => {
    expect(parseAddress(text)).toBe(text)
  })

  test('in a single case parses to the checksummed form that viem gives', () => {
    fc.assert(
      fc.property(bytes20, (bytes) => {
        const digits = toHex(bytes)
        fc.pre(BigInt(`0x${digits}`) > 0xffffn)
        const canonical = checksumAddress(`0x${digits}`)
        expect(parseAddress(`0x${digits}`)).toBe(canonical)
        expect(parseAddress(`0x${digits.toUpperCase()}`)).toBe(canonical)
        expect(parseAddress(canonical)).toBe(canonical)
      }),
    )
  })

  test('in mixed case with one wrong letter case is refused', () => {
    fc.assert(
      fc.property(bytes20, fc.nat(39), (bytes, at) => {
        const canonical = checksumAddress(`0x${toHex(bytes)}`)
        const digits = canonical.slice(2)
        const letter = digits[at] ?? ''
        const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
        const changed = digits.slice(0, at) + other + digits.slice(at + 1)
        const isMixed = changed !== changed.toLowerCase() && changed !== changed.toUpperCase()
        fc.pre(other !== letter && isMixed)
        expect(parseAddress(`0x${changed}`)).toBeNull()
      }),
    )
  })

  test('is null for any other text, without throwing', () => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => parseAddress(text) === null))
    for (const text of [
      '',
      '0x',
      `0X${'ab'.repeat(20)}`,
      'ab'.repeat(20),
      `0x${'ab'.repeat(21)}`,
      ` 0x${'ab'.repeat(20)}`,
    ]) {
      expect(parseAddress(text)).toBeNull()
    }
  })

  test.each([
    '0x0000000000000000000000000000000000000000',
    '0x0000000000000000000000000000000000000001',
    '0x000000000000000000000000000000000000000a',
    '0x0000000000000000000000000000000000001010',
    '0x000000000000000000000000000000000000dEaD',
    '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    usdt,
    usdt.toLowerCase(),
  ])('%s is refused as recipient', (text) => {
    expect(addresses().parse(text)).toBeNull()
  })
})

describe('our own addresses', () => {
  test('equal the addresses that viem derives from the keys', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        fc.pre(secp256k1.utils.isValidSecretKey(key))
        expect(addressOfKey(secp256k1.getPublicKey(key))).toBe(privateKeyToAddress(`0x${toHex(key)}`))
      }),
      { numRuns: 30 },
    )
  })

  test('come from the deposit and hot branches of the network’s coin type, and are payable', () => {
    const requests: [number, KeyPath][] = []
    const own = addresses(requests)
    const deposit = own.deposit(7)
    expect(deposit.memo).toBeNull()
    expect(own.parse(deposit.address)).toBe(deposit.address)
    expect(own.change(3)).toBe(own.hot())
    expect(requests).toEqual([
      [60, { branch: 'deposit', index: 7 }],
      [60, { branch: 'hot', index: 0 }],
      [60, { branch: 'hot', index: 0 }],
    ])
  })

  test('are shared by all networks for deposits, and differ by network for hot wallets', () => {
    const requests: [number, KeyPath][] = []
    const [one, other] = [addresses(), addresses(requests, base)]
    expect(other.deposit(7)).toEqual(one.deposit(7))
    expect(other.hot()).not.toBe(one.hot())
    expect(requests.slice(-1)).toEqual([[60, { branch: 'hot', index: base.hotIndex }]])
  })

  test('have no memo', () => {
    expect(addresses().parseMemo('1')).toBeNull()
  })
})
