import { describe, expect, test } from 'vitest'
import { xmr } from '../../../../networks/xmr.ts'
import { createAddresses, readAddress } from './address.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { bytesOf, hashToPoint, keccak, littleEndian, readPoint, times, timesBase, toScalar } from './ed25519.ts'
import { createWalletKeys, derive, outputSecret, viewTag } from './keys.ts'
import { keyImageOf, lockOf } from './scan.ts'
import { fromHex, toHex } from './transaction.ts'
import { viewKeysOf } from './view-keys.ts'

/** A wallet created by monero-wallet-rpc 0.18.0.0. All values were read from it and from monerod. */
const wallet = {
  view: 'a1aa48f1ed2ac45679f3a50b04108f2f9b8455275a62fd5f480b1aee7e97e10b',
  spend: '67f366c8f27f731e7ea2b5187b0d92b1139a1bf6cde58c6d9823c0e474e1dd07',
  address: '42DijGyGW4n7PfbEgTZYr8LCg6F3hipHSYpYe4TwrPqgED9bc8AdNWdiKPkfDV6osz9UQ3LWN36z6Yh2mVayqda2SanKQ96',
  subaddresses: [
    '8A8Ec7E6n5uUEpwtx9ZAwVNFoj7UUb7UfiCSVhGL8mjxcLVq95brQ5YK1zZ4gpJncPLP4ZuFnWgncRh8Za8oujVZ9Y1BK6S',
    '85Ydpr1yF5WQCkWGhtHC9ngqY536yQ2BG2rChcjwtG4U1AVzQ1xzxue9G5MQpbuEiob5VQYjjUfUGJpLKTszUXjBPU8dHXe',
    '86kcPsKV84KJKFpxrNAUrk5QqoFPQsmxAbEYTXvi15mn6qGWGJMst8QFCLpMQ8Ajn28fb3BqDQQHYMR34oabuYudBkq2Wob',
  ],
  /** The first address of its second account. */
  account: '87RAUvJ5eLqBcZeadAYcCCYvTDCP9tS52MRPah958KVqR68cWgL9chDAphyo5gGVeiL7MsS9uZe4XisY5jaBz1JoDzK3EiA',
  integrated:
    '4BvPk5nm7LJ7PfbEgTZYr8LCg6F3hipHSYpYe4TwrPqgED9bc8AdNWdiKPkfDV6osz9UQ3LWN36z6Yh2mVayqda2epB2rjZpzBnU3b92s5',
  /** An output to it: the transaction's public key, the output's, its view tag and its key image. */
  output: {
    publicKey: '358e441b72eeb7a75b3f818e4fd3e7b3e44c196a6d5a1e102a2c500af8cdee26',
    key: '462e5157b84fd8ede2437ad939aead720d7b49e8089081f9802ea5f4b0db5f77',
    viewTag: 0x56,
    keyImage: '7f256a66477a9c64b29f936f2d4e8d38965691f7119efe5b98cd0c1fa05cc9c0',
  },
} as const

const spend = littleEndian(fromHex(wallet.spend))
const keys = {
  ...createWalletKeys({ view: fromHex(wallet.view), spend: timesBase(spend).toBytes() }, null),
  spend,
}
const addresses = createAddresses(keys)

describe('addresses of Monero', () => {
  test('equal those of monero-wallet-rpc', () => {
    expect(addresses.hot()).toBe(wallet.address)
    expect([0, 1, 2].map((index) => addresses.deposit(index).address)).toEqual(wallet.subaddresses)
    expect(addresses.change(0)).toBe(wallet.account)
    expect(toHex(viewKeysOf(spend).view)).toBe(wallet.view)
  })

  test('are parsed in the three kinds that the regex of the catalogue accepts', () => {
    const all = [wallet.address, ...wallet.subaddresses, wallet.account, wallet.integrated]
    for (const text of all) {
      expect(addresses.parse(text)).toBe(text)
      expect(text).toMatch(new RegExp(xmr.production.regexAddress))
    }
    expect(readAddress(wallet.address)?.kind).toBe('standard')
    expect(readAddress(wallet.account)?.kind).toBe('subaddress')
    const integrated = readAddress(wallet.integrated)
    expect(integrated?.kind).toBe('integrated')
    expect(toHex(integrated?.paymentId ?? new Uint8Array())).toBe('1234567890abcdef')
    expect(integrated?.spend.equals(keys.spendPoint)).toBe(true)
  })

  test('are refused with a letter changed, omitted or added', () => {
    for (const text of [wallet.address, wallet.integrated]) {
      for (let at = 0; at < text.length; at += 3) {
        const letter = text[at] === '7' ? '8' : '7'
        expect(addresses.parse(text.slice(0, at) + letter + text.slice(at + 1))).toBeNull()
        expect(addresses.parse(text.slice(0, at) + text.slice(at + 1))).toBeNull()
        expect(addresses.parse(`${text.slice(0, at)}1${text.slice(at)}`)).toBeNull()
      }
    }
  })

  test('of other Monero networks are refused (B076)', () => {
    /** The same keys under another network prefix, with a valid checksum. */
    const withPrefix = (text: string, prefix: number) => {
      const body = Uint8Array.of(prefix, ...(decodeBase58(text) ?? []).slice(1, -4))
      return encodeBase58(Uint8Array.of(...body, ...keccak(body).subarray(0, 4)))
    }
    // Standard, integrated, subaddress of mainnet, testnet and stagenet (cryptonote_config.h).
    const prefixes = [
      { text: wallet.address, own: 18, others: [53, 24] },
      { text: wallet.integrated, own: 19, others: [54, 25] },
      { text: wallet.subaddresses[0], own: 42, others: [63, 36] },
    ]
    for (const { text, own, others } of prefixes) {
      expect(withPrefix(text, own)).toBe(text)
      for (const other of others) expect(addresses.parse(withPrefix(text, other))).toBeNull()
    }
    // A separate memo is MEMO_NOT_SUPPORTED: the network has none.
    expect(addresses.parseMemo('1234567890abcdef')).toBeNull()
    expect(xmr.memo).toBe('none')
  })
})

describe('outputs of Monero', () => {
  test('are recognised, and have the same key image as in monero-wallet-rpc', () => {
    const point = readPoint(fromHex(wallet.output.publicKey))
    if (point === null) throw new Error('a public key')
    const shared = derive(point, keys.view)
    expect(viewTag(shared, 0)).toBe(wallet.output.viewTag)
    const secret = outputSecret(shared, 0)
    expect(toHex(timesBase(secret).add(keys.spendPoint).toBytes())).toBe(wallet.output.key)
    const transfer = {
      identity: wallet.output.key,
      txHash: '',
      address: wallet.address,
      memo: null,
      contract: null,
      units: 1n,
      sender: null,
    }
    expect(keyImageOf(keys, { transfer, secret }, { branch: 'hot', index: 0 })).toBe(wallet.output.keyImage)
    // The output does not belong to another address of ours.
    expect(() => keyImageOf(keys, { transfer, secret }, { branch: 'deposit', index: 0 })).toThrow()
  })

  test('hash to a point of the prime-order group', () => {
    const point = hashToPoint(fromHex(wallet.output.key))
    expect(point.isTorsionFree()).toBe(true)
    expect(times(point, toScalar(bytesOf(1n, 32))).equals(point)).toBe(true)
  })

  test('may be locked until a height or a time', () => {
    const place = { height: 100, time: 1_700_000_000 }
    expect(lockOf(0n, place)).toBe(0)
    expect(lockOf(99n, place)).toBe(0)
    expect(lockOf(160n, place)).toBe(60)
    expect(lockOf(1_700_000_000n + 1_200n, place)).toBe(11)
    expect(lockOf(2n ** 64n - 1n, place)).toBe(2_147_483_647)
  })
})
