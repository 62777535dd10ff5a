import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from './database.ts'

let app: TestDatabase
beforeAll(async () => {
  app = await openTestDatabase()
})
afterAll(() => app.close())

const names: Readonly<Record<string, string>> = {
  int8: 'bigint',
  int4: 'int',
  bool: 'boolean',
  _text: 'text[]',
  _numeric: 'numeric[]',
}

/** `table.column type` and the description of every row of docs/database.md. */
function documented(): { columns: string[]; meanings: string[] } {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/database.md'), 'utf8')
  const columns: string[] = []
  const meanings: string[] = []
  for (const section of page.split(/^## /m).slice(1)) {
    const table = section.slice(0, section.indexOf('\n'))
    for (const [, column, type, meaning = ''] of section.matchAll(/^\| `(\w+)` \| ([^|]+) \| (.*) \|$/gm)) {
      columns.push(`${table}.${column} ${type}`)
      meanings.push(meaning.trim())
    }
  }
  return { columns, meanings }
}

test('docs/database.md has every table and column of the schema, with its type, and no other', async () => {
  const rows = await app.database.query<{
    table_name: string
    column_name: string
    type: string
    is_nullable: string
  }>(
    `select c.table_name, c.column_name, coalesce(c.domain_name, c.udt_name) as type, c.is_nullable
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`,
  )
  const columns = rows.map(
    (row) =>
      `${row.table_name}.${row.column_name} ${names[row.type] ?? row.type}${row.is_nullable === 'YES' ? ', null' : ''}`,
  )
  const page = documented()
  expect(page.columns.sort()).toEqual(columns.sort())
  expect(page.meanings.filter((meaning) => meaning === '')).toEqual([])
})
