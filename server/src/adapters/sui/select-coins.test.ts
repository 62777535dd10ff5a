import { expect, it } from 'vitest'
import type { Coin } from './node.ts'
import { selectCoins } from './select-coins.ts'

const coinsOf = (...units: readonly bigint[]): readonly Coin[] =>
  units.map((one, index) => ({ ref: { objectId: `0x${index}`, version: '1', digest: 'd' }, units: one }))
const ones = (count: number) => coinsOf(...Array.from({ length: count }, () => 1n))
const token = { of: 'token', field: 'amount' } as const

it('takes the largest coins that cover the amount', () => {
  const coins = coinsOf(5n, 3n, 2n)
  const idsFor = (units: bigint) => selectCoins(coins, units, token).map(({ objectId }) => objectId)
  expect([idsFor(5n), idsFor(6n), idsFor(10n)]).toEqual([['0x0'], ['0x0', '0x1'], ['0x0', '0x1', '0x2']])
})

it('says that the coins must be merged if only more than 250 of them cover the amount', () => {
  expect(selectCoins(ones(251), 250n, token)).toHaveLength(250)
  const merge = 'the account holds too little of the token to swap in its 250 largest coins of 251: merge them'
  expect(() => selectCoins(ones(251), 251n, token)).toThrow(
    expect.objectContaining({
      ...{ code: 'INSUFFICIENT_BALANCE', message: merge },
      problems: [expect.objectContaining({ required: '251', available: '250' })],
    }),
  )
})

it('says how much all coins hold if they are too little, however many they are', () => {
  const little = 'the account holds too little of the token to swap'
  for (const count of [0, 250, 300])
    expect(() => selectCoins(ones(count), 301n, token)).toThrow(
      expect.objectContaining({ message: little, problems: [expect.objectContaining({ available: String(count) })] }),
    )
})
