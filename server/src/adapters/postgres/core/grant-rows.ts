import pg from 'pg'
import type { Database, Tx } from './database.ts'

/** The schemas of the program and of its job queue (`graphile-worker`). */
const SCHEMAS = ['public', 'graphile_worker'] as const

/**
 * Lets a login read and write rows, as the processes do, and nothing else: it can change no table, trigger or function, and
 * shadow none by a temporary table. Repeatable. The login of `database` owns the schema and the database.
 */
export function grantRows(database: Database, role: string): Promise<void> {
  const grantee = pg.escapeIdentifier(role)
  return database.transaction(async (tx) => {
    await forbidTemporaryTables(tx)
    for (const schema of SCHEMAS) {
      await tx.query(`grant usage on schema ${schema} to ${grantee}`)
      await tx.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${grantee}`)
      await tx.query(`grant usage on all sequences in schema ${schema} to ${grantee}`)
      // For the tables of later migrations.
      await tx.query(
        `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${grantee}`,
      )
      await tx.query(`alter default privileges in schema ${schema} grant usage on sequences to ${grantee}`)
    }
    for (const table of ['public.migrations', 'graphile_worker.migrations'])
      await tx.query(`revoke insert, update, delete on ${table} from ${grantee}`)
    await openQueueRows(tx)
  })
}

async function forbidTemporaryTables(tx: Tx): Promise<void> {
  const [row] = await tx.query<{ name: string }>('select current_database() as name')
  await tx.query(`revoke temporary on database ${pg.escapeIdentifier(row?.name ?? '')} from public`)
}

/** The queue enables row level security, which hides all rows from every login but the owner's. */
async function openQueueRows(tx: Tx): Promise<void> {
  const tables = await tx.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'graphile_worker' and c.relrowsecurity`,
  )
  for (const { name } of tables) {
    await tx.query(`drop policy if exists granted on ${name}`)
    await tx.query(`create policy granted on ${name} using (true) with check (true)`)
  }
}
