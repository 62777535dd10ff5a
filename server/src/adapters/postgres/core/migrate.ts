import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '../../../lib/assert.ts'
import { type Database, sqlState } from './database.ts'

const folder = join(import.meta.dirname, '../../../../migrations')
/** Any number, the same in every process: only one migrates at a time. */
const LOCK = 7_240_919
/** unique_violation (of the catalogue), duplicate_table, duplicate_object (its row type). */
const MADE_BY_ANOTHER = new Set(['23505', '42P07', '42710'])

/** Brings the schema up to date: every `NNNN_*.sql` once, in order, each in a transaction of its own. */
export async function migrate(database: Database): Promise<readonly string[]> {
  await database
    .query(
      'create table if not exists migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    .catch((error: unknown) => {
      // Two processes may race to create it; the loser finds it there.
      if (!MADE_BY_ANOTHER.has(sqlState(error))) throw error
    })
  const applied: string[] = []
  const done = await database.query<{ name: string; sha256: string }>('select name, sha256 from migrations')
  const known = new Set(done.map(({ name, sha256 }) => `${name} ${sha256}`))
  for (const { name, text, sha256 } of readMigrations()) {
    // What is there cannot come again: a start that has nothing to do asks once, and waits for no lock.
    if (known.has(`${name} ${sha256}`)) continue
    await database.transaction(async (tx) => {
      // A migration of large tables takes its time, and so does waiting for another process that does it.
      await tx.query('set local statement_timeout = 0; set local lock_timeout = 0')
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK])
      const [row] = await tx.query<{ sha256: string }>('select sha256 from migrations where name = $1', [name])
      assert(row === undefined || row.sha256 === sha256, `migration ${name} was changed after it was applied`)
      if (row) return
      await tx.query(text)
      await tx.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256])
      applied.push(name)
    })
  }
  return applied
}

function readMigrations() {
  const names = readdirSync(folder).filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
  })
}
