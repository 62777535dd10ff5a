import { expect, test } from 'vitest'
import { match, type Seen } from './matcher.ts'

const knowledge = { leastSeconds: 0, mostSeconds: 100, same: 0.001 }
const payers: readonly Seen[] = [1, 2, 3].map((amount) => ({ asset: 'pol@matic', amount, time: amount }))
const recipients = payers.map(({ amount, time }): Seen => ({ asset: 'eth@eth', amount: 2 * amount, time: time + 10 }))
const unshuffled = (most: number) => most - 1

test('the matcher links payers and recipients by amounts', () => {
  const found = match(payers, recipients, ({ amount }) => 2 * amount, knowledge, unshuffled)
  expect(found).toEqual({ hits: 3, count: 3, chance: 1 / 3 })
})

test('a matcher that knows no price of what was served shows nothing, and says so', () => {
  const sees = ({ asset, amount }: Seen) => (asset === 'pol@matic' ? null : 2 * amount)
  expect(() => match(payers, recipients, sees, knowledge)).toThrow('no price of pol@matic → eth@eth')
})

test('a pair that is not served is no pair, where it is none', () => {
  const two: readonly Seen[] = [...payers, { asset: 'usdt@eth', amount: 9, time: 1 }]
  const paid: readonly Seen[] = [...recipients, { asset: 'btc@btc', amount: 18, time: 11 }]
  const serves = ({ asset, amount }: Seen, to: Pick<Seen, 'asset'>) =>
    (asset === 'usdt@eth') === (to.asset === 'btc@btc') ? 2 * amount : null
  expect(match(two, paid, serves, knowledge, unshuffled)).toEqual({ hits: 4, count: 4, chance: 0.5 })
})
