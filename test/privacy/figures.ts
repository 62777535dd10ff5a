import { figureTables, renderRow } from './figure-tables.ts'

/** Prints the tables of docs/private-exchanges.md: `node test/privacy/figures.ts`. Seeded: every run prints the same. */
for (const { header, rows } of Object.values(figureTables)) {
  console.log(`\n${header}\n${header.replaceAll(/[^|]+/g, '---')}`)
  for (const row of rows) console.log(renderRow(row))
}
