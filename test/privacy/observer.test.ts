import { describe, expect, test } from 'vitest'
import { createGraph, type Kind } from './graph.ts'
import type { Movement } from './movements.ts'
import { findLinks } from './observer.ts'

/* Each kind of link has a minimal example, and a counterexample that differs in one point. */

let count = 0
type Extras = Partial<Pick<Movement, 'keys' | 'payloads'>>
/** Creates a transaction in which all of `from` pay all of `to`. */
function createPayment(asset: string, from: readonly string[], to: readonly string[], extras: Extras = {}): Movement {
  const sides = (holders: readonly string[]) => holders.map((holder) => ({ holder, asset, units: 1n }))
  const [, network = ''] = asset.split('@')
  const position = { network, txHash: `0x${count++}`, height: 1, time: 1 }
  return { ...position, from: sides(from), to: sides(to), keys: [], payloads: [], ...extras }
}

const findKinds = (movements: readonly Movement[], from: string, to: string): readonly Kind[] =>
  findLinks(movements)
    .filter((link) => link.from === from && link.to === to)
    .map(({ kind }) => kind)
const areLinked = (movements: readonly Movement[], a: string, b: string): boolean =>
  createGraph(findLinks(movements)).areLinked(a, b)

describe('sweeps', () => {
  const sweep = createPayment('pol@matic', ['deposit'], ['wallet'])

  test('detects an address that pays only one other address', () => {
    expect(findKinds([sweep], 'deposit', 'wallet')).toEqual(['swept'])
    expect(areLinked([sweep], 'deposit', 'wallet')).toBe(true)
  })

  test('ignores an address that pays a second address', () => {
    const otherPayment = createPayment('pol@matic', ['deposit'], ['shop'])
    expect(findKinds([sweep, otherPayment], 'deposit', 'wallet')).toEqual(['paid'])
  })
})

describe('gas', () => {
  // On Polygon, where the ticker of the native currency differs from the network's id.
  const gas = createPayment('pol@matic', ['wallet'], ['deposit'])
  const salary = createPayment('pol@matic', ['wallet'], ['somebody'])
  const tokenSweep = createPayment('usdt@matic', ['deposit'], ['wallet'])

  test('detects native currency for an address that sweeps its tokens back to the sender', () => {
    expect(findKinds([gas, salary, tokenSweep], 'wallet', 'deposit')).toEqual(['gas'])
    expect(findKinds([gas, salary, tokenSweep], 'wallet', 'somebody')).toEqual(['paid'])
  })

  test('ignores native currency for an address that sends no tokens', () => {
    const refund = createPayment('pol@matic', ['deposit'], ['wallet'])
    expect(findKinds([gas, salary, refund], 'wallet', 'deposit')).toEqual(['paid'])
  })

  test('ignores native currency for an address that sends its tokens elsewhere', () => {
    const tokenPayment = createPayment('usdt@matic', ['deposit'], ['shop'])
    expect(findKinds([gas, salary, tokenPayment], 'wallet', 'deposit')).toEqual(['paid'])
  })
})

describe('inputs', () => {
  test('links all inputs of one transaction', () => {
    const spent = createPayment('btc@btc', ['one', 'two', 'three'], ['shop'])
    expect(findKinds([spent], 'one', 'two')).toEqual(['spent together'])
    expect(findKinds([spent], 'one', 'three')).toEqual(['spent together'])
    expect(areLinked([spent], 'two', 'three')).toBe(true)
  })

  test('does not link inputs of different transactions', () => {
    const separate = [createPayment('btc@btc', ['one'], ['shop']), createPayment('btc@btc', ['two'], ['inn'])]
    expect(areLinked(separate, 'one', 'two')).toBe(false)
  })
})

describe('change', () => {
  const purchase = createPayment('btc@btc', ['payer'], ['shop', 'rest'])

  test('detects an output that a later transaction spends together with an input of the same wallet', () => {
    const later = createPayment('btc@btc', ['payer', 'rest'], ['inn'])
    expect(findKinds([purchase, later], 'payer', 'rest')).toEqual(['change', 'spent together'])
    expect(findKinds([purchase, later], 'payer', 'shop')).toEqual(['paid'])
  })

  test('ignores an output that is spent alone', () => {
    const later = createPayment('btc@btc', ['rest'], ['inn'])
    expect(findKinds([purchase, later], 'payer', 'rest')).toEqual(['paid'])
  })
})

describe('payloads', () => {
  const payload = 'ab'.repeat(16)
  const otherPayload = 'cd'.repeat(16)
  const createTwoPayments = (first: string, second: string) => [
    createPayment('btc@btc', ['payer'], ['deposit'], { payloads: [first] }),
    createPayment('eth@eth', ['wallet'], ['recipient'], { payloads: [second] }),
  ]

  test('link all sides of two transactions on different chains if 16 bytes are equal', () => {
    for (const one of ['payer', 'deposit'])
      for (const another of ['wallet', 'recipient'])
        expect(areLinked(createTwoPayments(payload, payload), one, another)).toBe(true)
    expect(findKinds(createTwoPayments(payload, payload), 'recipient', `content:${payload}`)).toEqual(['one content'])
  })

  test('link nothing if they differ or are shorter than 16 bytes', () => {
    expect(areLinked(createTwoPayments(payload, otherPayload), 'deposit', 'recipient')).toBe(false)
    const short = payload.slice(2)
    expect(areLinked(createTwoPayments(short, short), 'deposit', 'recipient')).toBe(false)
  })
})

describe('keys', () => {
  const createMovements = (extras: Extras) => [
    createPayment('btc@btc', ['key:1'], ['shop'], extras),
    createPayment('eth@eth', ['0x1'], ['recipient']),
  ]

  test('link the holders on two chains if a signature reveals the common key', () => {
    const movements = createMovements({ keys: [['key:1', '0x1']] })
    expect(findKinds(movements, 'key:1', '0x1')).toEqual(['one key'])
    expect(areLinked(movements, 'shop', 'recipient')).toBe(true)
  })

  test('link nothing if no signature reveals the key', () => {
    expect(areLinked(createMovements({}), 'shop', 'recipient')).toBe(false)
  })
})
