import { expect, test } from 'vitest'
import { createIdSet } from './id-set.ts'

test('has every id that was added, and none of a hundred thousand others', () => {
  const ids = createIdSet()
  for (let n = 0; n < 50_000; n++) ids.add(`payout ${n}`)
  const count = (from: number, to: number) => {
    let found = 0
    for (let n = from; n < to; n++) if (ids.mayHave(`payout ${n}`)) found++
    return found
  }
  expect([count(0, 50_000), count(50_000, 150_000)]).toEqual([50_000, 0])
})
