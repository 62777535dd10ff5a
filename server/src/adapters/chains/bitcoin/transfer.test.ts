import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bch } from '../../../../networks/bch.ts'
import { btc } from '../../../../networks/btc.ts'
import { doge } from '../../../../networks/doge.ts'
import { ltc } from '../../../../networks/ltc.ts'
import { AppError, type ErrorCode } from '../../../core/domain/errors.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { KeyPath, Payment, Utxo } from '../../../exchange/ports/spend.ts'
import { largest } from '../../../lib/bigint.ts'
import { keyAddress, parametersOf } from './address.ts'
import { createBitcoinSigning } from './sign.ts'
import { buildTransfer, INPUTS_MAX, payoutFee } from './transfer.ts'

const networks = {
  btc: resolveNetwork(btc, 'production'),
  ltc: resolveNetwork(ltc, 'production'),
  doge: resolveNetwork(doge, 'production'),
  bch: resolveNetwork(bch, 'production'),
}
type Id = keyof typeof networks
const keys = {
  privateKey: ({ branch, index }: KeyPath) => {
    const key = new Uint8Array(32).fill({ deposit: 1, hot: 2, change: 3 }[branch])
    key[31] = index % 251
    return key
  },
}
const publicKeys = { publicKey: (_coinType: number, path: KeyPath) => pubECDSA(keys.privateKey(path)) }
const sign = createBitcoinSigning(Object.values(networks))

const recipient = (id: Id) => keyAddress(parametersOf(networks[id]), pubECDSA(new Uint8Array(32).fill(9)))
const pay = (id: Id, units: bigint, at = 0): Payment => ({
  payoutId: `p${at}`,
  address: recipient(id),
  memo: null,
  asset: { id: `${id}@${id}`, ticker: id, network: id, decimals: 8, contract: null },
  units,
})
const utxo = (index: number, units: bigint): Utxo => ({
  outpoint: `${index.toString(16).padStart(64, '0')}:${index % 7}`,
  units,
  path: { branch: 'deposit', index },
})
const utxos = (...units: bigint[]): Utxo[] => units.map((each, index) => utxo(index, each))

function build(id: Id, request: Partial<SpendRequest> & Pick<SpendRequest, 'utxos'>): UnsignedTransaction {
  return buildTransfer(networks[id], publicKeys, {
    payments: [pay(id, 10_000_000n)],
    from: { branch: 'hot', index: 0 },
    fee: { rate: 20_000n, tip: 0n },
    changeIndex: 4,
    nonce: null,
    replaces: null,
    gasLimit: null,
    sweepAll: false,
    ...request,
  })
}

function intentOf(unsigned: UnsignedTransaction) {
  if (unsigned.intent.family !== 'bitcoin') throw new Error('not of the bitcoin family')
  return unsigned.intent
}

function totals(unsigned: UnsignedTransaction) {
  const { inputs, pays, change } = intentOf(unsigned)
  const sum = (parts: readonly { units: bigint }[]) => parts.reduce((total, { units }) => total + units, 0n)
  return { inputUnits: sum(inputs), paidUnits: sum(pays), change: change?.units ?? 0n }
}

/** The virtual size of the signed bytes, computed by the library. */
function signedSize(unsigned: UnsignedTransaction): bigint {
  return BigInt(Transaction.fromRaw(hex.decode(sign(unsigned.intent, keys).raw)).vsize)
}

/** Invariants of every built transaction. */
function checkSound(id: Id, unsigned: UnsignedTransaction, rate: bigint): void {
  const { inputUnits, paidUnits, change } = totals(unsigned)
  expect(inputUnits).toBe(paidUnits + change + unsigned.feeUnits)
  const size = signedSize(unsigned)
  expect(unsigned.feeUnits * 1000n).toBeGreaterThanOrEqual(rate * size)
  const { inputs, pays } = intentOf(unsigned)
  expect(unsigned.resources).toEqual(inputs.map(({ outpoint }) => outpoint))
  expect(new Set(unsigned.resources).size).toBe(inputs.length)
  expect(unsigned.conflictKey).toBe(inputs[0]?.outpoint)
  const dust = parametersOf(networks[id]).dustUnits
  for (const { units } of [...pays, ...(unsigned.change === null ? [] : [unsigned.change])])
    expect(units).toBeGreaterThanOrEqual(dust)
}

const anyId = fc.constantFrom<Id>('btc', 'ltc', 'doge', 'bch')
const anyRate = fc.bigInt(1000n, 400_000n)
const anyUnits = fc.bigInt(1n, 5_000_000_000n)

/** Null if the wallet has too little; the given codes are returned, other errors thrown. */
function attempt<C extends ErrorCode = never>(
  work: () => UnsignedTransaction,
  ...codes: C[]
): UnsignedTransaction | C | null {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'INSUFFICIENT_LIQUIDITY') return null
    const code = codes.find((each) => each === error.code)
    if (code === undefined) throw error
    return code
  }
}

describe('a payment', () => {
  test('conserves value, creates no dust and pays the fee rate for any set of UTXOs', () => {
    const property = fc.property(
      anyId,
      anyRate,
      fc.array(anyUnits, { maxLength: 30 }),
      fc.array(fc.bigInt(1_000_000n, 2_000_000_000n), { minLength: 1, maxLength: 6 }),
      (id, rate, amounts, paid) => {
        const request = {
          utxos: utxos(...amounts),
          payments: paid.map((units, at) => pay(id, units, at)),
          fee: { rate, tip: 0n },
        }
        const unsigned = attempt(() => build(id, request))
        if (unsigned !== null) checkSound(id, unsigned, rate)
        else {
          // Refused only if all UTXOs, less the cost of spending each, do not cover the payments and the base size.
          const cost = (rate * (id === 'doge' || id === 'bch' ? 148n : 68n) + 999n) / 1000n
          const worth = amounts.reduce((total, units) => total + (units > cost ? units - cost : 0n), 0n)
          const frame = (rate * BigInt(13 + 36 * paid.length)) / 1000n
          expect(worth).toBeLessThan(paid.reduce((total, units) => total + units, 0n) + frame + cost)
        }
      },
    )
    fc.assert(property, { numRuns: 150 })
  })

  test('selects the largest UTXOs, the older of equal ones, and sends change to the given address', () => {
    const unsigned = build('btc', { utxos: utxos(6_000_000n, 8_000_000n, 5_000n, 8_000_000n) })
    expect(unsigned.resources).toEqual([utxo(1, 0n).outpoint, utxo(3, 0n).outpoint])
    // Two P2WPKH inputs and two outputs are 208.5 vB at most (67.75 or 68 each, 31 each, 10.5), at 20 per vB.
    expect(unsigned.feeUnits).toBe(4180n)
    expect(unsigned.change).toMatchObject({ path: { branch: 'change', index: 4 }, units: 5_995_820n, vout: 1 })
  })

  test('makes twenty payments in one transaction', () => {
    const pays = Array.from({ length: 20 }, (_, at) => pay('btc', 1_000_000n + BigInt(at), at))
    const unsigned = build('btc', { utxos: utxos(30_000_000n), payments: pays })
    expect(intentOf(unsigned).pays).toEqual(pays)
    expect(unsigned.change?.vout).toBe(20)
    checkSound('btc', unsigned, 20_000n)
  })

  test('adds dust change to the fee', () => {
    // One input, one output: 110 vB (109.25 up to 110) at 20; 141 with change.
    const exact = 10_000_000n + 2200n
    expect(build('btc', { utxos: utxos(exact) })).toMatchObject({ change: null, feeUnits: 2200n })
    expect(build('btc', { utxos: utxos(exact + 1000n) })).toMatchObject({ change: null, feeUnits: 3200n })
    expect(() => build('btc', { utxos: utxos(exact - 1n) })).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }),
    )
  })

  test('does not spend UTXOs that cost more than they are worth', () => {
    const many = Array.from({ length: 50 }, () => 1300n)
    expect(build('btc', { utxos: utxos(...many, 20_000_000n) }).resources).toHaveLength(1)
    expect(() => build('btc', { utxos: utxos(...many, 10_000_000n) })).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }),
    )
  })

  test('spends at most 500 UTXOs', () => {
    const many = Array.from({ length: 600 }, (_, index) => utxo(index, 100_000n))
    const request = { utxos: many, fee: { rate: 1000n, tip: 0n } }
    expect(build('bch', { ...request, payments: [pay('bch', 49_900_000n)] }).resources).toHaveLength(INPUTS_MAX)
    expect(() => build('bch', { ...request, payments: [pay('bch', 51_000_000n)] })).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }),
    )
  })

  test('refuses dust, addresses of other networks, fee rates out of bounds and duplicate UTXOs', () => {
    const rich = utxos(900_000_000n)
    expect(() => build('btc', { utxos: rich, payments: [pay('btc', 545n)] })).toThrow(
      expect.objectContaining({ code: 'AMOUNT_BELOW_MIN' }),
    )
    const elsewhere = { ...pay('btc', 10_000n), address: recipient('doge') }
    expect(() => build('btc', { utxos: rich, payments: [elsewhere] })).toThrow(
      expect.objectContaining({ code: 'INVALID_ADDRESS' }),
    )
    expect(() => build('btc', { utxos: rich, fee: { rate: 3_000_000n, tip: 0n } })).toThrow('fee rate')
    expect(() => build('btc', { utxos: rich, fee: { rate: 0n, tip: 0n } })).toThrow('fee rate')
    expect(() => build('btc', { utxos: [utxo(1, 9_000_000n), utxo(1, 9_000_000n)] })).toThrow('spent twice')
  })
})

describe('a sweep', () => {
  test('pays the sum of its inputs less the fee', () => {
    const unsigned = build('ltc', {
      utxos: utxos(5_000_000n, 7_000_000n),
      payments: [pay('ltc', 99_000_000n)],
      sweepAll: true,
    })
    expect(unsigned.change).toBeNull()
    expect(unsigned.resources).toHaveLength(2)
    expect(intentOf(unsigned).pays[0]?.units).toBe(12_000_000n - unsigned.feeUnits)
    checkSound('ltc', unsigned, 20_000n)
  })

  test('pays at most the requested units', () => {
    const unsigned = build('ltc', {
      utxos: utxos(5_000_000n, 7_000_000n),
      payments: [pay('ltc', 6_000_000n)],
      sweepAll: true,
    })
    expect(intentOf(unsigned).pays[0]?.units).toBe(6_000_000n)
    checkSound('ltc', unsigned, 20_000n)
  })

  test('of inputs below dust is refused', () => {
    const request = { utxos: utxos(1000n), payments: [pay('ltc', 99_000_000n)], sweepAll: true }
    expect(() => build('ltc', request)).toThrow(expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }))
  })
})

describe('a replacement', () => {
  const replace = (id: Id, old: UnsignedTransaction, request: Partial<SpendRequest> & Pick<SpendRequest, 'utxos'>) => {
    return build(id, { ...request, replaces: { intent: old.intent, feeUnits: old.feeUnits } })
  }

  test('spends the same inputs, makes the same payments and raises the fee (BIP-125)', () => {
    const property = fc.property(
      fc.constant<Id>('btc'),
      anyRate,
      // The estimate now, in percent of the one before: a transaction that offers four times as much is not raised.
      fc.bigInt(35n, 500n),
      fc.array(fc.bigInt(1_000_000n, 20_000_000n), { minLength: 1, maxLength: 8 }),
      fc.array(fc.bigInt(10_000n, 20_000_000n), { maxLength: 8 }),
      (id, rate, percent, amounts, more) => {
        const newRate = (rate * percent) / 100n + 500n
        const wallet = utxos(...amounts)
        const old = attempt(() => build(id, { utxos: wallet, fee: { rate, tip: 0n } }))
        fc.pre(old !== null)
        const further = more.map((units, index) => utxo(100 + index, units))
        const request = { utxos: [...wallet, ...further], fee: { rate: newRate, tip: 0n }, changeIndex: 9 }
        const next = attempt(() => replace(id, old, request), 'NETWORK_UNAVAILABLE')
        if (next === 'NETWORK_UNAVAILABLE') {
          // The first transaction may have added dust change to its fee: raised, it offers more than four estimates.
          const oldVsize = signedSize(old)
          const raised = largest(old.feeUnits + oldVsize, (old.feeUnits * 105n) / 100n)
          expect(raised).toBeGreaterThan((4n * newRate * oldVsize) / 1000n)
          return
        }
        fc.pre(next !== null)
        checkSound(id, next, newRate)
        expect(next.conflictKey).toBe(old.conflictKey)
        expect(next.resources.slice(0, old.resources.length)).toEqual(old.resources)
        expect(intentOf(next).pays).toEqual(intentOf(old).pays)
        if (old.change !== null && next.change !== null) expect(next.change.path).toEqual(old.change.path)
        const [oldSize, size] = [signedSize(old), signedSize(next)]
        // BIP-125, rules 3 and 4, and Bitcoin Core's requirement of a higher fee rate.
        expect(next.feeUnits).toBeGreaterThanOrEqual(old.feeUnits + size)
        expect(next.feeUnits * oldSize).toBeGreaterThan(old.feeUnits * size)
      },
    )
    // fast-check fails the property if more draws are refused than accepted.
    fc.assert(property, { numRuns: 150, maxSkipsPerRun: 1 })
  })

  test('takes the higher fee from the change first, then from further UTXOs', () => {
    const old = build('btc', { utxos: utxos(10_010_000n) })
    const next = replace('btc', old, { utxos: utxos(10_010_000n, 50_000n), fee: { rate: 40_000n, tip: 0n } })
    expect(next.resources).toEqual(old.resources)
    expect(next.change?.units).toBeLessThan(old.change?.units ?? 0n)
    const last = replace('btc', next, { utxos: utxos(10_010_000n, 50_000n), fee: { rate: 150_000n, tip: 0n } })
    expect(last.resources).toEqual([...old.resources, utxo(1, 0n).outpoint])
    expect(() => replace('btc', next, { utxos: [], fee: { rate: 150_000n, tip: 0n } })).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' }),
    )
  })

  test('offers at most four times the current estimate: a transaction above it does not wait because of its fee', () => {
    const wallet = utxos(50_000_000n)
    const old = build('btc', { utxos: wallet, fee: { rate: 40_000n, tip: 0n } })
    // 141 vB at 40, raised by 5 %, are 5922; four times the estimate are 5640 at 10, and 6204 at 11.
    expect(() => replace('btc', old, { utxos: wallet, fee: { rate: 10_000n, tip: 0n } })).toThrow(
      expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }),
    )
    expect(replace('btc', old, { utxos: wallet, fee: { rate: 11_000n, tip: 0n } }).feeUnits).toBe(5_922n)
  })

  // M26: a recipient spends its output by a large child that pays little per byte; nodes refused every replacement.
  test('M26: pays more than the replaced transaction and all that depend on it (BIP-125, rule 3), up to the same limit', () => {
    const wallet = utxos(50_000_000n)
    const old = build('btc', { utxos: wallet, fee: { rate: 10_000n, tip: 0n } })
    const replaceEvicting = (evictedUnits: bigint, rate: bigint) =>
      build('btc', {
        utxos: wallet,
        fee: { rate, tip: 0n },
        replaces: { intent: old.intent, feeUnits: old.feeUnits, evictedUnits },
      })
    // 141 vB: 1410 at 10. With a child, 8000 in all; 141 more are the relay of the replacement.
    const next = replaceEvicting(8_000n, 20_000n)
    expect([old.feeUnits, next.feeUnits, signedSize(next)]).toEqual([1_410n, 8_141n, 141n])
    expect(replaceEvicting(1_500n, 20_000n).feeUnits).toBe(2_820n)
    // Four times the estimate are 11 280.
    expect(replaceEvicting(11_139n, 20_000n).feeUnits).toBe(11_280n)
    expect(() => replaceEvicting(11_140n, 20_000n)).toThrow(expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }))
  })

  test('of a consolidation spends the same inputs, pays the same and lessens the change', () => {
    const wallet = utxos(40_000n, 50_000n, 60_000n)
    const request = { utxos: wallet, payments: [pay('btc', 75_000n)] }
    const old = build('btc', { ...request, sweepAll: true, fee: { rate: 3_000n, tip: 0n } })
    expect(old.resources).toHaveLength(3)
    // 277 vB (10.5, three inputs of 68, two outputs of 31) at 3.
    expect([intentOf(old).pays[0]?.units, old.change?.units]).toEqual([75_000n, 74_169n])
    checkSound('btc', old, 3_000n)
    const next = replace('btc', old, { ...request, fee: { rate: 6_000n, tip: 0n } })
    expect(next.resources).toEqual(old.resources)
    expect([intentOf(next).pays[0]?.units, next.change?.units]).toEqual([75_000n, 73_338n])
  })

  test('of a sweep pays fewer units', () => {
    const request = { utxos: utxos(5_000_000n), payments: [pay('btc', 99_000_000n)], sweepAll: true }
    const old = build('btc', request)
    const next = replace('btc', old, { ...request, fee: { rate: 50_000n, tip: 0n } })
    expect(next.resources).toEqual(old.resources)
    expect(intentOf(next).pays[0]?.units).toBe(5_000_000n - next.feeUnits)
    checkSound('btc', next, 50_000n)
  })

  test('is refused on networks without replacement and above the maximum fee', () => {
    const old = build('doge', { utxos: utxos(900_000_000n) })
    expect(() => replace('doge', old, { utxos: utxos(900_000_000n) })).toThrow('accept replacements')
    const dear = build('btc', { utxos: utxos(900_000_000n), fee: { rate: 2_184_000n, tip: 0n } })
    const dearest = { ...dear, feeUnits: dear.feeUnits * 2n }
    expect(() => replace('btc', dearest, { utxos: [] })).toThrow(
      expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }),
    )
  })
})

test('the typical payout fee is that of two inputs and change', () => {
  expect(payoutFee(networks.btc, { rate: 20_000n, tip: 0n })).toBe(4180n)
  // 374 bytes: 10 and twice 148 and 34.
  expect(payoutFee(networks.doge, { rate: 1_000_000n, tip: 0n })).toBe(374_000n)
})
