import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import {
  checksumAddress,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { SignIntent } from '../../../exchange/ports/signer.ts'
import { InvariantError } from '../../../lib/assert.ts'
import { signEvm } from './sign.ts'

type EvmIntent = Extract<SignIntent, { family: 'evm' }>

const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const keyOf = (privateKey: Uint8Array) => ({ privateKey: () => privateKey })

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => secp256k1.utils.isValidSecretKey(bytes))
const recipient = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => BigInt(toHex(bytes)) > 0xffffn)
  .map((bytes) => checksumAddress(toHex(bytes)))

function intent(parts: Partial<EvmIntent> & { address?: string; units?: bigint; token?: boolean } = {}): EvmIntent {
  const { address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', units = 1n, token = false, ...others } = parts
  const asset = token
    ? ({ id: 'usdt@eth', ticker: 'usdt', network: 'eth', decimals: 6, contract } as const)
    : ({ id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const)
  return {
    family: 'evm',
    network: 'eth',
    chainId: 1,
    from: { branch: 'hot', index: 0 },
    nonce: 0,
    pay: { payoutId: 'p', address, memo: null, asset, units },
    gasLimit: 60_000n,
    maxFeePerGas: 30n,
    maxPriorityFeePerGas: 1n,
    ...others,
  }
}

const intents = fc
  .record({
    address: recipient,
    units: fc.bigInt(1n, 2n ** 200n),
    token: fc.boolean(),
    nonce: fc.nat(),
    chainId: fc.integer({ min: 1, max: 4_000_000_000 }),
    gasLimit: fc.bigInt(21_000n, 2_000_000n),
    maxFeePerGas: fc.bigInt(1n, 10n ** 15n),
    isLegacy: fc.boolean(),
  })
  .map(({ isLegacy, ...parts }) =>
    intent({ ...parts, maxPriorityFeePerGas: isLegacy ? parts.maxFeePerGas : parts.maxFeePerGas - 1n }),
  )

describe('signEvm', () => {
  test('signs a cancel as zero to its own address, whatever its payout is', async () => {
    await fc.assert(
      fc.asyncProperty(key, intents, async (privateKey, requested) => {
        const own = privateKeyToAccount(toHex(privateKey)).address
        const { raw } = signEvm({ ...requested, cancels: true }, keyOf(privateKey))
        const { to, value = 0n, data = '0x', nonce = 0, gas, chainId } = parseTransaction(raw as Hex)
        expect([to?.toLowerCase(), value, data]).toEqual([own.toLowerCase(), 0n, '0x'])
        expect([nonce, gas, chainId]).toEqual([requested.nonce, requested.gasLimit, requested.chainId])
      }),
      { numRuns: 20 },
    )
  })

  test('gives the same bytes as viem, and the same bytes every time', async () => {
    await fc.assert(
      fc.asyncProperty(key, intents, async (privateKey, requested) => {
        const { pay, chainId, nonce, gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas } = requested
        const account = privateKeyToAccount(toHex(privateKey))
        const to = pay.address as Hex
        const call = pay.asset.contract
          ? {
              to: contract as Hex,
              data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, pay.units] }),
            }
          : { to, value: pay.units }
        const expected =
          maxFeePerGas === maxPriorityFeePerGas
            ? await account.signTransaction({ type: 'legacy', chainId, nonce, gas, gasPrice: maxFeePerGas, ...call })
            : await account.signTransaction({
                type: 'eip1559',
                chainId,
                nonce,
                gas,
                maxFeePerGas,
                maxPriorityFeePerGas,
                ...call,
              })
        const signed = signEvm(requested, keyOf(privateKey))
        expect(signed.raw).toBe(expected)
        expect(signEvm(requested, keyOf(privateKey))).toEqual(signed)
        expect(await recoverTransactionAddress({ serializedTransaction: signed.raw as `0x02${string}` })).toBe(
          account.address,
        )
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['zero units', { units: 0n }],
    ['a reserved recipient', { address: '0x0000000000000000000000000000000000000001' }],
    ['a recipient without canonical form', { address: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' }],
    ['a token paid to its own contract', { address: contract, token: true }],
    ['a tip above the fee', { maxFeePerGas: 1n, maxPriorityFeePerGas: 2n }],
    ['too little gas', { gasLimit: 20_999n }],
    ['too much gas', { gasLimit: 30_000_000n }],
    ['a negative nonce', { nonce: -1 }],
    ['an asset of another network', { network: 'bsc' }],
    ['chain id 0', { chainId: 0 }],
  ])('refuses %s', (_, parts) => {
    expect(() => signEvm(intent(parts), keyOf(new Uint8Array(32).fill(1)))).toThrow(InvariantError)
  })

  test('refuses a memo', () => {
    const requested = intent()
    const withMemo = { ...requested, pay: { ...requested.pay, memo: '7' } }
    expect(() => signEvm(withMemo, keyOf(new Uint8Array(32).fill(1)))).toThrow(InvariantError)
  })
})
