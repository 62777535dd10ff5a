import { describe, expect, test } from 'vitest'
import { readHash } from '../shared/replies.ts'
import { readAmount, readBlock, readMempoolEntry, readTransaction } from './replies.ts'

const hash = (digit: string) => digit.repeat(64)

describe('amounts', () => {
  test.each([
    ['0.00000001', 1n],
    ['1e-8', 1n],
    ['1E-08', 1n],
    ['20999999.97690000', 2_099_999_997_690_000n],
    // Dogecoin: more units than a double can represent.
    ['144000000000.12345678', 14_400_000_000_012_345_678n],
    [50, 5_000_000_000n],
    ['1.5e3', 150_000_000_000n],
    ['0', 0n],
  ])('%s', (value, units) => {
    expect(readAmount(value)).toBe(units)
  })

  test.each([
    ['0.000000001'],
    ['-1'],
    ['1e-9'],
    [''],
    ['.5'],
    ['0x10'],
    ['1e999'],
    [Number.NaN],
    [null],
    [undefined],
    [{}],
  ])('refuses %s', (value) => {
    expect(() => readAmount(value)).toThrow(expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }))
  })
})

describe('an unconfirmed transaction', () => {
  test.each([
    [
      'Bitcoin Core',
      { vsize: 141, fees: { base: '0.00001410', descendant: '0.00008000' }, time: 1_767_268_800 },
      8_000n,
    ],
    ['with a lower priority', { vsize: 141, fees: { base: '0.00001410', descendant: '-0.9' } }, 0n],
    ['an older node', { size: 141, fee: '0.00001410', descendantfees: 8_000 }, 8_000n],
  ])('%s: its time, its fee, and that of all that depend on it', (_, reply, evictedUnits) => {
    const seenAt = 'time' in reply ? new Date('2026-01-01T12:00:00Z') : null
    const expected = { seenAt, feeUnits: 1_410n, evictedUnits, virtualBytes: 141n, parents: [] }
    expect(readMempoolEntry({ ...reply, depends: [] })).toEqual(expected)
  })
})

describe('a transaction', () => {
  const output = { value: '1.00000000', n: 0, scriptPubKey: { hex: '51' } }

  test('is read with its inputs and outputs', () => {
    const value = {
      txid: hash('a'),
      vin: [{ txid: hash('b'), vout: 3, scriptSig: {}, sequence: 1 }],
      vout: [output, { ...output, n: 1, value: 2 }],
      blockhash: hash('c'),
    }
    expect(readTransaction(value)).toEqual({
      txid: hash('a'),
      coinbase: false,
      spends: [`${hash('b')}:3`],
      isReplaceable: true,
      outputs: [
        { vout: 0, units: 100_000_000n, script: '51', tokenCategory: null },
        { vout: 1, units: 200_000_000n, script: '51', tokenCategory: null },
      ],
      blockHash: hash('c'),
    })
  })

  test('is marked as coinbase', () => {
    expect(readTransaction({ txid: hash('a'), vin: [{ coinbase: '00' }], vout: [output] })).toMatchObject({
      coinbase: true,
      spends: [],
      blockHash: null,
    })
  })

  test('of Litecoin may have inputs and outputs in extension blocks', () => {
    const value = {
      txid: hash('a'),
      vin: [
        { ismweb: true, output_id: hash('d') },
        { txid: hash('b'), vout: 0 },
      ],
      vout: [{ ismweb: true, output_id: hash('e') }, output],
    }
    expect(readTransaction(value)).toMatchObject({ spends: [`${hash('b')}:0`], outputs: [{ vout: 0 }] })
  })

  test.each([
    ['no inputs', { txid: hash('a'), vout: [] }],
    ['an empty input', { txid: hash('a'), vin: [{}], vout: [] }],
    ['an output without a script', { txid: hash('a'), vin: [], vout: [{ value: 1, n: 0 }] }],
    ['half a byte of script', { txid: hash('a'), vin: [], vout: [{ value: 1, n: 0, scriptPubKey: { hex: '515' } }] }],
    ['a negative index', { txid: hash('a'), vin: [], vout: [{ ...output, n: -1 }] }],
    ['an id in capitals', { txid: 'A'.repeat(64), vin: [], vout: [] }],
    ['text in place of an object', 'tx'],
  ])('with %s throws NETWORK_UNAVAILABLE', (_name, value) => {
    expect(() => readTransaction(value)).toThrow(expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }))
  })
})

test('throws NETWORK_UNAVAILABLE for a block other than the requested one', () => {
  const block = { hash: hash('1'), height: 5, previousblockhash: hash('0'), time: 7, tx: [hash('a')] }
  expect(readBlock(block, hash('1'), readHash)).toMatchObject({
    height: 5,
    parentHash: hash('0'),
    transactions: [hash('a')],
  })
  expect(() => readBlock(block, hash('2'), readHash)).toThrow(expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' }))
})
