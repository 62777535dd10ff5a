import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { figureTables, measureFigure } from './figure-tables.ts'

const lines = readFileSync(new URL('../../docs/private-exchanges.md', import.meta.url), 'utf8').split('\n')

/** The rows of the table with this header, as the document has them. */
function readRows(header: string): readonly string[] {
  const start = lines.indexOf(header)
  if (start === -1) throw new Error(`docs/private-exchanges.md has no table with the header ${header}`)
  const rest = lines.slice(start + 2)
  return rest.slice(0, rest.indexOf(''))
}

/** A figure is a second or more of simulation. `npm run test:long` compares all, `npm test` these. */
const compared: Readonly<Record<string, readonly string[]>> = {
  delays: ['Monero, hidden (`privatePlus`) | a day, equal, delay to 10 min'],
  variations: ['Monero, hidden (`privatePlus`) | 10 minutes, random, to 10 min, ±1 %'],
  reserves: ['an hour, random, published'],
}
/** `npm test -- --all` compares one of four in addition, by the seed of the run. */
const isDrawn = (index: number): boolean => {
  const run = process.env['TEST_RUN']
  return run === 'long' || (run === 'all' && index % 4 === seed % 4)
}

// The simulations are seeded, so a figure has no tolerance. It follows from `privacyDefaults` and the rules of the networks.
describe.each(Object.entries(figureTables))(
  'the table of %s in docs/private-exchanges.md',
  (table, { header, rows }) => {
    const columns = header.slice(2, -2).split(' | ')
    const written = readRows(header)
    const figures = rows.flatMap(({ name, cases }, n) => {
      const firsts = name.split(' | ')
      const cells = (written[n] ?? '').slice(2, -2).split(' | ')
      return cases.map((one, at) => {
        const column = firsts.length + at
        return {
          name: `${name}, ${columns[column]}`,
          one,
          inRow: cells.slice(0, firsts.length),
          firsts,
          cell: cells[column],
        }
      })
    })

    test('has the rows and columns of the model', () => {
      expect(written.length).toBe(rows.length)
      for (const { inRow, firsts } of figures) expect(inRow).toEqual(firsts)
      for (const line of written) expect(line.split(' | ').length).toBe(columns.length)
      const names = figures.map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining([...(compared[table] ?? [])]))
    })

    test.each(figures.filter(({ name }, index) => isDrawn(index) || compared[table]?.includes(name)))(
      'has the figure of the model: $name',
      ({ one, cell }) => {
        expect(cell).toBe(measureFigure(one))
      },
    )
  },
)
