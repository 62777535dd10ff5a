import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ExternalPostgres, startExternalPostgres } from '../test/support/external-postgres.ts'
import { serverMain } from '../test/support/server-main.ts'

/** Logins of one database, as docs/guides/operate.md demands: the owner of the tables, and one for the processes of each role. */
export type DatabaseUrls = Readonly<{ owner: string; api: string; worker: string }>

export type Databases = Readonly<{
  postgresVersion: string
  /** Creates a database with its tables, whose rows the logins of the processes may read and write. */
  create(name: string): Promise<DatabaseUrls>
  /** Waits until the processes run no statement that takes longer than a moment, as the checks of a start do. */
  waitUntilCalm(name: string): Promise<void>
  stop(): Promise<void>
}>

const logins = { owner: 'swapyard_owner', api: 'swapyard_api', worker: 'swapyard_worker' } as const
const CALM_POLL_MS = 250
/** The database must be calm this many times in a row. */
const CALM_POLLS = 8
const LONG_STATEMENT_MS = 200

/** Postgres of the version that the program brings along, with the server's default settings and checksums. */
export async function startDatabases(folder: string): Promise<Databases> {
  const postgres = await startExternalPostgres({ hasChecksums: true, isEmbeddedVersion: true })
  const password = randomBytes(12).toString('hex')
  for (const login of Object.values(logins))
    await postgres.administer(`create role ${login} login password '${password}'`)
  const [version] = await postgres.query<{ server_version: string }>('show server_version')
  return {
    postgresVersion: version?.server_version ?? 'unknown',
    async create(name) {
      await postgres.administer(
        `create database ${name} owner ${logins.owner} encoding 'UTF8' locale 'C' template template0`,
      )
      const [owner, api, worker] = Object.values(logins).map((login) => postgres.urlOf(login, password, name))
      const urls = { owner: owner ?? '', api: api ?? '', worker: worker ?? '' }
      await migrate(urls.owner, folder)
      return urls
    },
    waitUntilCalm: (name) => waitUntilCalm(postgres, name),
    stop: () => postgres.stop(),
  }
}

/** By the documented command. */
async function migrate(ownerUrl: string, folder: string): Promise<void> {
  const args = [join(import.meta.dirname, '..', serverMain), 'migrate', '--grant', logins.api, logins.worker]
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    DATABASE_URL: ownerUrl,
    SWAPYARD_DATA_DIR: join(folder, 'operator'),
  }
  await promisify(execFile)(process.execPath, args, { env })
}

async function waitUntilCalm(postgres: ExternalPostgres, name: string): Promise<void> {
  for (let calm = 0; calm < CALM_POLLS; ) {
    const [row] = await postgres.query<{ long: number }>(
      `select count(*)::int as long from pg_stat_activity where datname = '${name}' and state = 'active'
         and backend_type = 'client backend' and now() - query_start > interval '${LONG_STATEMENT_MS} milliseconds'`,
    )
    calm = row?.long === 0 ? calm + 1 : 0
    await delay(CALM_POLL_MS)
  }
}
