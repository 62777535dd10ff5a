import { describe, expect, test } from 'vitest'
import { createGraph, type Kind } from './graph.ts'
import type { Movement } from './movements.ts'
import { linksOf } from './observer.ts'

/*
 * What the observer takes for a tie, and what not: each kind by the least that shows it, beside what differs from that in
 * one thing alone.
 */

let count = 0
type Shown = Partial<Pick<Movement, 'keys' | 'contents'>>
/** A transaction in which all of `from` pay all of `to`. */
function pays(asset: string, from: readonly string[], to: readonly string[], shown: Shown = {}): Movement {
  const sides = (holders: readonly string[]) => holders.map((holder) => ({ holder, asset, units: 1n }))
  const [, network = ''] = asset.split('@')
  const place = { network, txHash: `0x${count++}`, height: 1, time: 1 }
  return { ...place, from: sides(from), to: sides(to), keys: [], contents: [], ...shown }
}

const kindsOf = (movements: readonly Movement[], from: string, to: string): readonly Kind[] =>
  linksOf(movements)
    .filter((link) => link.from === from && link.to === to)
    .map(({ kind }) => kind)
const areTied = (movements: readonly Movement[], a: string, b: string): boolean =>
  createGraph(linksOf(movements)).areTied(a, b)

describe('a sweep', () => {
  const emptied = pays('pol@matic', ['deposit'], ['wallet'])

  test('is what an address pays that pays one other alone', () => {
    expect(kindsOf([emptied], 'deposit', 'wallet')).toEqual(['swept'])
    expect(areTied([emptied], 'deposit', 'wallet')).toBe(true)
  })

  test('is not what an address pays that pays somebody else, too', () => {
    const other = pays('pol@matic', ['deposit'], ['shop'])
    expect(kindsOf([emptied, other], 'deposit', 'wallet')).toEqual(['paid'])
  })
})

describe('gas', () => {
  // On Polygon, whose coin has not the network's name.
  const coin = pays('pol@matic', ['wallet'], ['deposit'])
  const wages = pays('pol@matic', ['wallet'], ['somebody'])
  const token = pays('usdt@matic', ['deposit'], ['wallet'])

  test('is coin to an address whose tokens are swept to the one that gave it', () => {
    expect(kindsOf([coin, wages, token], 'wallet', 'deposit')).toEqual(['gas'])
    expect(kindsOf([coin, wages, token], 'wallet', 'somebody')).toEqual(['paid'])
  })

  test('is not coin to an address that sends coin alone', () => {
    const back = pays('pol@matic', ['deposit'], ['wallet'])
    expect(kindsOf([coin, wages, back], 'wallet', 'deposit')).toEqual(['paid'])
  })

  test('is not coin to an address whose tokens go elsewhere', () => {
    const elsewhere = pays('usdt@matic', ['deposit'], ['shop'])
    expect(kindsOf([coin, wages, elsewhere], 'wallet', 'deposit')).toEqual(['paid'])
  })
})

describe('inputs', () => {
  test('that are spent together are of one wallet, however many', () => {
    const spent = pays('btc@btc', ['one', 'two', 'three'], ['shop'])
    expect(kindsOf([spent], 'one', 'two')).toEqual(['spent together'])
    expect(kindsOf([spent], 'one', 'three')).toEqual(['spent together'])
    expect(areTied([spent], 'two', 'three')).toBe(true)
  })

  test('that are spent one by one are not', () => {
    const apart = [pays('btc@btc', ['one'], ['shop']), pays('btc@btc', ['two'], ['inn'])]
    expect(areTied(apart, 'one', 'two')).toBe(false)
  })
})

describe('change', () => {
  const bought = pays('btc@btc', ['payer'], ['shop', 'rest'])

  test('is what is spent later together with an input of the same wallet', () => {
    const later = pays('btc@btc', ['payer', 'rest'], ['inn'])
    expect(kindsOf([bought, later], 'payer', 'rest')).toEqual(['change', 'spent together'])
    expect(kindsOf([bought, later], 'payer', 'shop')).toEqual(['paid'])
  })

  test('is not what is spent alone', () => {
    const later = pays('btc@btc', ['rest'], ['inn'])
    expect(kindsOf([bought, later], 'payer', 'rest')).toEqual(['paid'])
  })
})

describe('a content', () => {
  const word = 'ab'.repeat(16)
  const other = 'cd'.repeat(16)
  const both = (first: string, second: string) => [
    pays('btc@btc', ['payer'], ['deposit'], { contents: [first] }),
    pays('eth@eth', ['wallet'], ['recipient'], { contents: [second] }),
  ]

  test('of sixteen bytes that two chains show ties all sides of both', () => {
    for (const one of ['payer', 'deposit'])
      for (const another of ['wallet', 'recipient']) expect(areTied(both(word, word), one, another)).toBe(true)
    expect(kindsOf(both(word, word), 'recipient', `content:${word}`)).toEqual(['one content'])
  })

  test('that differs links no one, nor does a shorter one', () => {
    expect(areTied(both(word, other), 'deposit', 'recipient')).toBe(false)
    const short = word.slice(2)
    expect(areTied(both(short, short), 'deposit', 'recipient')).toBe(false)
  })
})

describe('a key', () => {
  const twoChains = (shown: Shown) => [
    pays('btc@btc', ['key:1'], ['shop'], shown),
    pays('eth@eth', ['0x1'], ['recipient']),
  ]

  test('that a signature shows is one holder under both of its names', () => {
    const shown = twoChains({ keys: [['key:1', '0x1']] })
    expect(kindsOf(shown, 'key:1', '0x1')).toEqual(['one key'])
    expect(areTied(shown, 'shop', 'recipient')).toBe(true)
  })

  test('that none shows is two holders', () => {
    expect(areTied(twoChains({}), 'shop', 'recipient')).toBe(false)
  })
})
