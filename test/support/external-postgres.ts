import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import pg from 'pg'
import { findBinaries } from '../../server/src/adapters/embedded-postgres/binaries.ts'
import { SYSTEM_FOLDER } from '../../server/src/adapters/embedded-postgres/cluster-location.ts'
import { findOwner, give } from '../../server/src/adapters/embedded-postgres/owner.ts'
import { findDebianPostgres } from './debian-postgres.ts'
import { nullIfNotListening } from './not-listening.ts'
import { until } from './until.ts'

/** `isEmbeddedVersion`: of the version that the program brings along, and not of Debian's, which is older. */
export type ExternalPostgresOptions = Readonly<{ hasChecksums: boolean; isEmbeddedVersion?: boolean }>

/**
 * A PostgreSQL server that the program does not own, with the server's default settings and a superuser: Debian's, where it is installed
 * and the embedded version is not asked for.
 */
export type ExternalPostgres = Readonly<{
  /** Runs statements as the superuser, each on its own. */
  administer(...statements: readonly string[]): Promise<void>
  query<Row extends pg.QueryResultRow>(text: string, database?: string): Promise<Row[]>
  majorVersion(): Promise<number>
  urlOf(role: string, password: string, database: string): string
  stop(): Promise<void>
}>

const SUPERUSER = 'postgres'
const environment = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' }

export async function startExternalPostgres({
  hasChecksums,
  isEmbeddedVersion = false,
}: ExternalPostgresOptions): Promise<ExternalPostgres> {
  const owner = findOwner()
  const binaries = (isEmbeddedVersion ? null : findDebianPostgres()) ?? findBinaries(owner, SYSTEM_FOLDER)
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-external-postgres-'))
  const cluster = join(folder, 'cluster')
  const passwordFile = join(folder, 'password')
  const superPassword = randomBytes(16).toString('hex')
  writeFileSync(passwordFile, superPassword)
  chmodSync(folder, 0o700)
  for (const path of [passwordFile, folder]) give(path, owner)
  const initdb = (args: readonly string[]) =>
    spawnSync(binaries.initdb, args, { ...owner, cwd: '/', env: environment, encoding: 'utf8' })
  // Checksums are the default since version 18, and the option to leave them out exists since then.
  const isDefault = Number(/(\d+)/.exec(initdb(['--version']).stdout)?.[1]) >= 18
  const created = initdb([
    ...['-D', cluster, '-U', SUPERUSER, '-A', 'scram-sha-256', '--pwfile', passwordFile, '--no-instructions'],
    ...(hasChecksums ? ['--data-checksums'] : isDefault ? ['--no-data-checksums'] : []),
  ])
  if (created.status !== 0) throw new Error(`initdb failed: ${created.stderr}`)

  const port = await freePort()
  const server = spawn(binaries.postgres, ['-D', cluster, '-h', '127.0.0.1', '-p', String(port), '-k', ''], {
    ...owner,
    cwd: '/',
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const endWithTests = () => server.kill('SIGKILL')
  process.once('exit', endWithTests)

  const urlOf = (role: string, password: string, database: string) =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`
  async function connected<T>(work: (client: pg.Client) => Promise<T>, database = 'postgres'): Promise<T> {
    const client = new pg.Client({ connectionString: urlOf(SUPERUSER, superPassword, database) })
    try {
      await client.connect()
      return await work(client)
    } finally {
      await client.end()
    }
  }
  await until('the external Postgres accepts connections', () => {
    if (server.exitCode !== null) throw new Error(`Postgres ended: ${output}`)
    return connected(() => Promise.resolve(true)).catch(nullIfNotListening)
  })
  const query = <Row extends pg.QueryResultRow>(text: string, database?: string): Promise<Row[]> =>
    connected(async (client) => (await client.query<Row>(text)).rows, database)
  return {
    urlOf,
    query,
    async majorVersion() {
      const [row] = await query<{ version: number }>(
        "select current_setting('server_version_num')::int / 10000 as version",
      )
      return row?.version ?? 0
    },
    administer: (...statements) =>
      connected(async (client) => {
        for (const statement of statements) await client.query(statement)
      }),
    async stop() {
      server.kill('SIGINT')
      await ended
      process.off('exit', endWithTests)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
