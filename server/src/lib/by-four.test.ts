import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createByFour } from './by-four.ts'

const key = fc.constantFrom('', 'a', 'b', 'a>b')
const keys = fc.tuple(key, key, key, fc.nat({ max: 3 }))

describe('entries by four keys', () => {
  test('are those of a Map whose keys are the four together', () => {
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 60 }), fc.array(keys), (written, read) => {
        const kept = createByFour<string, string, string, number, number>(1_000)
        const whole = new Map<string, number>()
        for (const [turn, [a, b, c, d]] of written.entries()) {
          kept.set(a, b, c, d, turn)
          whole.set(JSON.stringify([a, b, c, d]), turn)
        }
        for (const [a, b, c, d] of [...written, ...read]) {
          expect(kept.get(a, b, c, d)).toBe(whole.get(JSON.stringify([a, b, c, d])))
        }
      }),
    )
  })

  test('are forgotten when they are too many, and when told', () => {
    const kept = createByFour<number, number, number, number, string>(2)
    for (const n of [1, 2, 2]) kept.set(n, 0, 0, 0, `${n}`)
    kept.set(3, 0, 0, 0, '3')
    expect([1, 2, 3].map((n) => kept.get(n, 0, 0, 0))).toEqual([undefined, undefined, '3'])
    kept.clear()
    expect(kept.get(3, 0, 0, 0)).toBeUndefined()
  })
})
