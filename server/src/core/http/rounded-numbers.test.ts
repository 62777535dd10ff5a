import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRoundedMember, noteRoundedNumbers } from './rounded-numbers.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('a', '"', '\\', '\\"', ':1234567890123456789', '{', ']'),
)
/** Without a backslash: V8 takes a name `"` for the name `\` where an object before had that one. */
const name = text.filter((one) => !one.includes('\\'))
const number = fc.oneof(
  fc.constantFrom(
    '1',
    '-0',
    '1234567890123456',
    '0.10000000000000000',
    '1000000000000000000001',
    '1e-400',
    '-1e400',
    '0e-999',
  ),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(99))
    .map(([digits, exponent]) => `${digits}e-${exponent}`),
)
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    number,
    text.map((one) => JSON.stringify(one)),
    fc.constantFrom('null', 'true', '[]', '{}'),
    fc.array(tie('value')).map((items) => `[${items.join(', ')}]`),
    objectOf(tie('value')),
  ),
}))
function objectOf(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(fc.tuple(name, member)).map((rows) => {
    const members = rows.map(([key, written]) => `${JSON.stringify(key)} :\n${written}`)
    return `{${members.join(',')}}`
  })
}

/** By the reviver of `JSON.parse`, which knows the text of each number. */
function readRounded(json: string): readonly string[] {
  const found: (readonly [holder: unknown, name: string])[] = []
  function note(this: unknown, name: string, one: unknown, { source = '' }: { source?: string } = {}): unknown {
    const digits = source
      .replace(/e.*/i, '')
      .replace(/[-.]/g, '')
      .replace(/^0+|0+$/g, '')
    const isLost = !Number.isFinite(one) || (one === 0 && digits !== '')
    if (typeof one === 'number' && (digits.length > 15 || isLost)) found.push([this, name])
    return one
  }
  const root: unknown = JSON.parse(json, note)
  return found.flatMap(([holder, name]) => (holder === root ? [name] : []))
}

test('the rounded numbers are those whose text JSON.parse rounds', () => {
  let count = 0
  fc.assert(
    fc.property(objectOf(value), (json) => {
      const body = JSON.parse(json)
      noteRoundedNumbers(json, body)
      const names = Object.keys(body).filter((name) => typeof body[name] === 'number')
      const rounded = names.filter((name) => isRoundedMember(body, name))
      expect(rounded.toSorted()).toEqual(readRounded(json).toSorted())
      count += rounded.length
    }),
    { numRuns: 2_000 },
  )
  expect(count).toBeGreaterThan(100)
})

test('a body that is no object has none', () => {
  for (const json of ['[1234567890123456789,{"a":1234567890123456789}]', '":1234567890123456789"', 'null'])
    expect(() => noteRoundedNumbers(json, JSON.parse(json))).not.toThrow()
})
