import { HDKey } from '@scure/bip32'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountPath, createPublicKeys, publicAccounts } from './keys.ts'

describe('public keys', () => {
  // BIP-84's own test vector: `abandon … about`, account 0, first two receiving keys.
  test('are those of BIP-84', () => {
    const seed = Buffer.from(
      '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
      'hex',
    )
    const keys = createPublicKeys(publicAccounts(seed, [0]))
    const hex = (index: number) => Buffer.from(keys.publicKey(0, { branch: 'deposit', index })).toString('hex')
    expect(hex(0)).toBe('0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c')
    expect(hex(1)).toBe('03e775fd51f0dfb8cd865d9ff1cca2a158cf651fe997fdc9fee9c1d3b5e995ea77')
  })

  test('equal those that the library derives from the private keys', () => {
    const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const branches = fc.constantFrom('deposit' as const, 'hot' as const, 'change' as const)
    fc.assert(
      fc.property(
        seeds,
        fc.constantFrom(0, 2, 3, 60, 145),
        branches,
        fc.nat({ max: 2 ** 31 - 1 }),
        (seed, coinType, branch, index) => {
          const ours = createPublicKeys(publicAccounts(seed, [coinType])).publicKey(coinType, { branch, index })
          const path = `${accountPath(coinType, branch)}/${branch === 'change' ? 1 : 0}/${index}`
          expect(Buffer.from(ours)).toEqual(Buffer.from(HDKey.fromMasterSeed(seed).derive(path).publicKey ?? []))
        },
      ),
      { numRuns: 100 },
    )
  })

  test('are the same for consecutive indexes of several interleaved callers', () => {
    const seed = Buffer.alloc(32, 7)
    const keys = createPublicKeys(publicAccounts(seed, [60]))
    const branch = HDKey.fromMasterSeed(seed).derive(`${accountPath(60, 'deposit')}/0`)
    for (let n = 0; n < 100; n++) {
      for (const start of [0, 90, 2 ** 31 - 100]) {
        const ours = keys.publicKey(60, { branch: 'deposit', index: start + n })
        expect(Buffer.from(ours)).toEqual(Buffer.from(branch.deriveChild(start + n).publicKey ?? []))
      }
    }
  })

  test('are the same if they were precomputed for two branches, before and after the thread answers', async () => {
    const seed = Buffer.alloc(32, 9)
    const keys = createPublicKeys(publicAccounts(seed, [0, 60]))
    const indexes = Array.from({ length: 256 }, (_, n) => 5_000 + n)
    const right = (coinType: number, index: number) =>
      Buffer.from(
        HDKey.fromMasterSeed(seed)
          .derive(`${accountPath(coinType, 'deposit')}/0`)
          .deriveChild(index).publicKey ?? [],
      )
    for (const coinType of [0, 60]) keys.precompute?.(coinType, 'deposit', indexes)
    expect(Buffer.from(keys.publicKey(60, { branch: 'deposit', index: 5_001 }))).toEqual(right(60, 5_001))
    // The thread answers in between.
    for (let n = 0; n < 256; n += 5) {
      for (const coinType of [0, 60])
        expect(Buffer.from(keys.publicKey(coinType, { branch: 'deposit', index: 5_000 + n }))).toEqual(
          right(coinType, 5_000 + n),
        )
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })

  test('exist below 2^31 alone', () => {
    const keys = createPublicKeys(publicAccounts(new Uint8Array(32), [0]))
    for (const index of [-1, 2 ** 31, 0.5])
      expect(() => keys.publicKey(0, { branch: 'deposit', index })).toThrow('a derivation index is below 2^31')
    expect(() => keys.precompute?.(0, 'deposit', [2 ** 31])).toThrow('a derivation index is below 2^31')
  })
})
