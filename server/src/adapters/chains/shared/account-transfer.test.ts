import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eth } from '../../../../networks/eth.ts'
import { AppError } from '../../../core/domain/errors.ts'
import { type Network, resolveNetwork } from '../../../core/domain/network.ts'
import type { SpendRequest } from '../../../exchange/ports/chain.ts'
import { InvariantError } from '../../../lib/assert.ts'
import { smallest } from '../../../lib/bigint.ts'
import { typicalFee } from '../evm/fees.ts'
import { buildTransfer, type EvmIntent } from './account-transfer.ts'

const network = resolveNetwork(eth, 'production')
const legacy: Network = { ...network, evm: { chainId: 1, finalityTag: null, dynamicFees: false } }
const own = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const addresses = {
  parse: () => null,
  parseMemo: () => null,
  deposit: () => ({ address: own, memo: null }),
  hot: () => own,
  change: () => own,
  addressAt: () => own,
}
const native = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
const payment = {
  payoutId: 'p',
  address: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  memo: null,
  asset: native,
  units: 500n,
}

function request(parts: Partial<SpendRequest> = {}): SpendRequest {
  return {
    payments: [payment],
    from: { branch: 'hot', index: 0 },
    fee: { rate: 100n, tip: 3n },
    utxos: [],
    changeIndex: 0,
    nonce: 9,
    replaces: null,
    gasLimit: 21_000n,
    sweepAll: false,
    ...parts,
  }
}

function build(parts: Partial<SpendRequest> = {}, on = network) {
  const unsigned = buildTransfer(on, addresses, request(parts))
  return { ...unsigned, intent: unsigned.intent as EvmIntent }
}

describe('a transfer', () => {
  test('uses the fee rate as maximum and one nonce as conflict key', () => {
    const { intent, conflictKey, resources, feeUnits, change } = build()
    expect(intent).toMatchObject({
      nonce: 9,
      gasLimit: 21_000n,
      maxFeePerGas: 100n,
      maxPriorityFeePerGas: 3n,
      pay: payment,
    })
    expect([conflictKey, resources, feeUnits, change]).toEqual([`${own}:9`, [`${own}:9`], 2_100_000n, null])
  })

  test('on a network without EIP-1559 has a single gas price', () => {
    const { intent } = build({ fee: { rate: 100n, tip: 0n } }, legacy)
    expect([intent.maxFeePerGas, intent.maxPriorityFeePerGas]).toEqual([100n, 100n])
  })

  test('includes the layer-1 fee', () => {
    expect(build({ fee: { rate: 100n, tip: 3n, l1Fee: 7n } }).feeUnits).toBe(2_100_007n)
    expect(typicalFee(native, { rate: 100n, tip: 3n, l1Fee: 7n })).toBe(2_520_007n)
    expect(typicalFee({ ...native, contract: own }, { rate: 100n, tip: 3n })).toBe(7_800_000n)
  })

  test('of a sweep leaves exactly the maximum fee', () => {
    const { intent, feeUnits } = build({ payments: [{ ...payment, units: 10n ** 18n }], sweepAll: true })
    expect(intent.pay.units + feeUnits).toBe(10n ** 18n)
  })

  test('of a sweep below its own fee is refused', () => {
    expect(() => build({ payments: [{ ...payment, units: 2_100_000n }], sweepAll: true })).toThrow(AppError)
  })

  test.each([
    ['two pays', { payments: [payment, payment] }],
    ['no nonce', { nonce: null }],
    ['no gas limit', { gasLimit: null }],
    ['an asset of another network', { payments: [{ ...payment, asset: { ...native, network: 'bsc' } }] }],
  ])('with %s throws an invariant error', (_, parts) => {
    expect(() => build(parts)).toThrow(InvariantError)
  })
})

describe('a replacement', () => {
  const price = fc.bigInt(1n, 10n ** 13n)

  test('has the same conflict key, raises both fee fields by at least 13 %, and pays at least the current fee rate', () => {
    fc.assert(
      fc.property(price, price, price, price, fc.boolean(), (oldRate, oldTip, rate, tip, isDynamic) => {
        const on = isDynamic ? network : legacy
        const old = build({ fee: { rate: oldRate, tip: smallest(oldTip, oldRate) } }, on)
        const next = build({ fee: { rate, tip: smallest(tip, rate) }, gasLimit: null, replaces: old }, on)
        expect(next.conflictKey).toBe(old.conflictKey)
        for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(next.intent[field] * 100n).toBeGreaterThanOrEqual(old.intent[field] * 113n)
          expect(next.intent[field]).toBeGreaterThan(old.intent[field])
        }
        expect(next.intent.maxFeePerGas).toBeGreaterThanOrEqual(rate)
        expect(next.intent.maxPriorityFeePerGas).toBeLessThanOrEqual(next.intent.maxFeePerGas)
        expect(next.intent.pay).toEqual(old.intent.pay)
      }),
    )
  })

  test.each([
    ['another nonce', { nonce: 10 }],
    ['another sender', { from: { branch: 'deposit', index: 0 } as const }],
    ['another recipient', { payments: [{ ...payment, address: own }] }],
    ['other units', { payments: [{ ...payment, units: 501n }] }],
    ['another payout', { payments: [{ ...payment, payoutId: 'q' }] }],
  ])('with %s throws an invariant error', (_, parts) => {
    expect(() => build({ ...parts, replaces: build() })).toThrow(InvariantError)
  })
})
