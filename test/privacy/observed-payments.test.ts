import { expect, test } from 'vitest'
import type { Movement } from './movements.ts'
import { findUtxoOwners } from './observed-payments.ts'

let count = 0
/** Creates a transaction on btc in which all of `from` pay all of `to`. */
function pay(from: readonly string[], to: readonly string[]): Movement {
  const sides = (holders: readonly string[]) => holders.map((holder) => ({ holder, asset: 'btc@btc', units: 1n }))
  const position = { network: 'btc', txHash: `0x${count++}`, height: 1, time: 1 }
  return { ...position, from: sides(from), to: sides(to), keys: [], payloads: [] }
}
const wallets = new Set(['wallet'])

test('a holder that is spent together with our wallet is ours', () => {
  const isOurs = findUtxoOwners([pay(['wallet'], ['recipient', 'inner']), pay(['inner', 'wallet'], ['shop'])], wallets)
  expect([isOurs('inner'), isOurs('recipient'), isOurs('shop')]).toEqual([true, false, false])
})

test('a holder that is spent alone is ours if its change comes back to us, over any number of payments', () => {
  const movements = [
    pay(['inner'], ['first', 'change']),
    pay(['change'], ['second', 'later change']),
    pay(['later change', 'wallet'], ['shop']),
  ]
  const isOurs = findUtxoOwners(movements, wallets)
  expect(['inner', 'change', 'later change'].filter(isOurs)).toHaveLength(3)
  expect(['first', 'second', 'shop'].filter(isOurs)).toEqual([])
})

test('a holder whose coins go elsewhere is not ours', () => {
  expect(findUtxoOwners([pay(['wallet'], ['recipient']), pay(['recipient'], ['shop'])], wallets)('recipient')).toBe(
    false,
  )
})
