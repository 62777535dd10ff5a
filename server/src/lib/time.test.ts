import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toIso } from './time.ts'

describe('a time as text', () => {
  it('is what the language writes', () => {
    const dates = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(fc.property(dates, (date) => void expect(toIso(date)).toBe(date.toISOString())))
  })
})
