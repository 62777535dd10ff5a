import type { Sql } from './database.ts'

const OLDEST_VERSION = 150_000

type Settings = Readonly<{ version: string; fsync: string; full_page_writes: string; synchronous_commit: string }>

/**
 * The settings of a server, as this role sees them, that are unsafe for money. Each value of `synchronous_commit` but `off`
 * waits until the commit is on the disk of this server.
 */
export async function findUnsafeSettings(sql: Sql): Promise<readonly string[]> {
  const [settings] = await sql.query<Settings>(
    `select current_setting('server_version_num') as version, current_setting('fsync') as fsync,
       current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_commit') as synchronous_commit`,
  )
  if (settings === undefined) return ['the server does not show its settings']
  const version = Number.parseInt(settings.version, 10)
  return [
    ...(version < OLDEST_VERSION
      ? [`PostgreSQL ${Math.floor(version / 10_000)} is too old; version 15 or later is needed`]
      : []),
    ...(settings.fsync === 'off'
      ? ['fsync is off: a crash of the machine loses commits or corrupts the database; turn it on']
      : []),
    ...(settings.full_page_writes === 'off'
      ? ['full_page_writes is off: a crash of the machine can leave half-written pages; turn it on']
      : []),
    ...(settings.synchronous_commit === 'off'
      ? ['synchronous_commit is off: a crash loses the last commits; turn it on for this role and database']
      : []),
  ]
}

/** Whether the cluster finds corrupted pages when it reads them. Set when a cluster is created, or by `pg_checksums`. */
export async function hasChecksums(sql: Sql): Promise<boolean> {
  const [settings] = await sql.query<{ checksums: string }>("select current_setting('data_checksums') as checksums")
  return settings?.checksums === 'on'
}
