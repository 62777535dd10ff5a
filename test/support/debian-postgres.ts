import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from '../../server/src/adapters/embedded-postgres/binaries.ts'

const FOLDER = '/usr/lib/postgresql'
/** The oldest version that the program accepts. */
export const POSTGRES_MIN = 15
/** Of the package `@embedded-postgres`. */
export const EMBEDDED_VERSION = 18

/** Debian's PostgreSQL, of the oldest installed version that the program accepts; null = none. Not on the PATH. */
export function findDebianPostgres(): Binaries | null {
  const versions = existsSync(FOLDER) ? readdirSync(FOLDER).map(Number) : []
  const accepted = versions.filter((version) => version >= POSTGRES_MIN).sort((a, b) => a - b)
  for (const version of accepted) {
    const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(FOLDER, String(version), 'bin', name))
    if (initdb && postgres && existsSync(initdb) && existsSync(postgres)) return { initdb, postgres }
  }
  return null
}
