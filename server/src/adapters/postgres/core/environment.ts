import type { Environment } from '../../../core/domain/network.ts'
import type { Sql } from './database.ts'

/** The environment to which the database belongs. Null before its first start. */
export async function findEnvironment(sql: Sql): Promise<Environment | null> {
  const [table] = await sql.query<{ exists: boolean }>("select to_regclass('environment') is not null as exists")
  if (!table?.exists) return null
  const [row] = await sql.query<{ name: Environment }>('select name from environment')
  return row?.name ?? null
}

/** Makes it the environment of the database, unless the database has one. */
export async function claimEnvironment(sql: Sql, name: Environment): Promise<void> {
  await sql.query('insert into environment (name) values ($1) on conflict do nothing', [name])
}
