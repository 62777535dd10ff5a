import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, sqlState, type Tx } from './database.ts'

const folder = join(import.meta.dirname, '../../../../migrations')
/** Key of the advisory lock: only one process migrates at a time. */
const LOCK = 7_240_919
/** Migrating a large table takes long. */
const STATEMENT_MS = 24 * 3_600_000
/** lock_not_available: a statement waited for a lock longer than `lock_timeout`. */
const LOCK_TIMEOUT = '55P03'
/**
 * Statements on a table wait behind a migration that waits for the table. So it waits briefly, lets them pass, and tries again:
 * for a minute in all.
 */
const tableLocks = { waitMs: 5_000, pauseMs: 1_000, attemptsMax: 10 }
/** unique_violation (of the catalogue), duplicate_table, duplicate_object (its row type). */
const CREATED_CONCURRENTLY = new Set(['23505', '42P07', '42710'])

type Migration = Readonly<{ name: string; sha256: string }>

/**
 * Brings the schema up to date: runs every `NNNN_*.sql` once, in order, each in a transaction of its own. Throws if there is one
 * to run and this login may not create tables.
 */
export async function migrate(database: Database, locks = tableLocks): Promise<readonly string[]> {
  const files = readMigrations()
  const existing = await readApplied(database)
  checkApplied(existing, files)
  const appliedNames = new Set(existing.map(({ name }) => name))
  if (files.some(({ name }) => !appliedNames.has(name))) await prepareToApply(database)
  const applied: string[] = []
  for (const { name, text, sha256 } of files) {
    // A start with nothing to apply makes one query and waits for no lock.
    if (appliedNames.has(name)) continue
    const apply = async (tx: Tx) => {
      // The lock may take as long as the process that holds it needs for its migration.
      await tx.query('set local lock_timeout = 0')
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK])
      const rows = await tx.query<Migration>('select name, sha256 from migrations')
      checkApplied(rows, files)
      if (rows.some((row) => row.name === name)) return
      await tx.query(`set local lock_timeout = ${locks.waitMs}`)
      await tx.query(text)
      await tx.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256])
      applied.push(name)
    }
    await repeatWhileLocked(name, locks, () => database.transaction(apply, { statementTimeoutMs: STATEMENT_MS }))
  }
  return applied
}

async function repeatWhileLocked(name: string, locks: typeof tableLocks, apply: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply()
    } catch (error) {
      if (sqlState(error) !== LOCK_TIMEOUT) throw error
      if (attempt >= locks.attemptsMax)
        throw new Error(
          `migration ${name} was not applied: in ${attempt} attempts it got no lock of a table, because other transactions use the table. Find the long ones (pg_stat_activity, pg_locks), end them, and run this again.`,
          { cause: error },
        )
      await delay(locks.pauseMs)
    }
  }
}

/** The applied migrations; none in an empty database. */
async function readApplied(database: Database): Promise<readonly Migration[]> {
  const [row] = await database.query<{ exists: boolean }>("select to_regclass('migrations') is not null as exists")
  return row?.exists ? database.query<Migration>('select name, sha256 from migrations') : []
}

async function prepareToApply(database: Database): Promise<void> {
  const [row] = await database.query<{ allowed: boolean }>(
    "select has_schema_privilege(current_schema(), 'create') as allowed",
  )
  if (!row?.allowed)
    throw new Error(
      'the schema of the database is older than this version, and this login may not change it: run "swapyard migrate" with the login of the owner (DATABASE_URL)',
    )
  await database
    .query(
      'create table if not exists migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    .catch((error: unknown) => {
      // Two processes may create the table at the same time; it exists for the one that fails.
      if (!CREATED_CONCURRENTLY.has(sqlState(error))) throw error
    })
}

/**
 * Rejects a database with another history. Migrations after our last one are accepted: during an upgrade, processes of the
 * previous version keep running on the newer schema.
 */
function checkApplied(applied: readonly Migration[], files: readonly Migration[]): void {
  const last = files.at(-1)?.name ?? ''
  const own = new Map(files.map(({ name, sha256 }) => [name, sha256]))
  const unknown = applied.map(({ name }) => name).filter((name) => name < last && !own.has(name))
  if (unknown.length > 0)
    throw new Error(
      `the database was created by an earlier version, whose schema cannot be upgraded (migration ${unknown.sort()[0]} is unknown to this version): start with a new data folder (SWAPYARD_DATA_DIR) or an empty database (DATABASE_URL). If the old database holds funds, pay them out first with the version that created it.`,
    )
  for (const { name, sha256 } of applied)
    if ((own.get(name) ?? sha256) !== sha256)
      throw new Error(
        `migration ${name} differs from the one that was applied to this database: restore the file; change the schema by a further migration`,
      )
}

function readMigrations() {
  const names = readdirSync(folder).filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
  })
}
