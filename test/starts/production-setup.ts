import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ExternalPostgres,
  type ExternalPostgresOptions,
  startExternalPostgres,
} from '../support/external-postgres.ts'
import { serverMain } from '../support/server-main.ts'
import type { LocalBitcoin } from './local-bitcoin.ts'
import { type LocalChains, localizeExample, startLocalNetworks } from './local-networks.ts'
import { servePriceDocuments } from './price-documents.ts'
import { type Json, type Program, startProgram } from './program.ts'

/*
 * Everything that docs/guides/operate.md asks of an operator, on this machine: no part of it is the sandbox's. The two endpoints of
 * a network are proxies of one node, so nodes that disagree are not tested here.
 */

type Role = 'api' | 'worker'
export type ProductionSetup = Readonly<{
  folder: string
  postgres: ExternalPostgres
  chains: LocalChains
  bitcoin: LocalBitcoin
  operatorToken: string
  /** Writes the config file: the documented example, all of it, with local URLs, changed by `change`. */
  writeConfig(change?: (config: Json) => void): void
  environmentOf(role: Role): Record<string, string>
  /** Starts a role as production. The test stops it. */
  start(role: Role, environment?: Record<string, string>): Program
  /** Runs an operator's command to its end, as on the worker's machine, and returns the printed rows. */
  run(...args: readonly string[]): Promise<Json[]>
  /** Creates the tables as the owner of the database, and lets the logins of the processes read and write their rows. */
  migrate(): Promise<void>
  /** Connection URLs by login. */
  databaseUrls: Readonly<Record<Role, string>>
  stop(): Promise<void>
}>

/** A login that owns the database and is no superuser, and a login for each process. Returns their URLs. */
async function createDatabase(postgres: ExternalPostgres): Promise<Record<Role | 'owner', string>> {
  const createLogin = async (name: string) => {
    const password = randomBytes(12).toString('hex')
    await postgres.administer(`create role ${name} login password '${password}'`)
    return postgres.urlOf(name, password, 'swapyard')
  }
  const urls = {
    owner: await createLogin('swapyard_owner'),
    api: await createLogin('swapyard_api'),
    worker: await createLogin('swapyard_worker'),
  }
  await postgres.administer('create database swapyard owner swapyard_owner')
  return urls
}

/** Adds the files of the secrets, the database URLs, the folders and the keystores to the environment of a role. */
function createEnvironments(folder: string, databaseUrls: Readonly<Record<Role, string>>) {
  const secretFile = (name: string, value: string) => {
    const path = join(folder, name)
    writeFileSync(path, `${value}\n`, { mode: 0o600 })
    return path
  }
  const operatorToken = randomBytes(24).toString('hex')
  const pepper = secretFile('pepper', randomBytes(32).toString('hex'))
  const passphrase = secretFile('passphrase', randomBytes(16).toString('hex'))
  const token = secretFile('operator-token', operatorToken)
  const environmentOf = (role: Role): Record<string, string> => ({
    HOME: folder,
    // An empty variable counts as unset.
    SWAPYARD_SANDBOX_STILL: '',
    SWAPYARD_CONFIG: join(folder, 'config.json'),
    SWAPYARD_DATA_DIR: join(folder, role),
    DATABASE_URL_FILE: secretFile(`${role}-database-url`, databaseUrls[role]),
    SWAPYARD_PEPPER_FILE: pepper,
    SWAPYARD_OPERATOR_TOKEN_FILE: token,
    ...(role === 'api'
      ? { SWAPYARD_KEYSTORE: join(folder, 'public.json'), SWAPYARD_TRUST_PROXY: '1' }
      : {
          SWAPYARD_KEYSTORE: join(folder, 'keystore.json'),
          SWAPYARD_KEYSTORE_PASSPHRASE_FILE: passphrase,
          SWAPYARD_WORKER_PORT: '0',
        }),
    // On a busy machine Postgres takes seconds to open a connection (docs/decisions/0100).
    SWAPYARD_POOL_WAIT_MS: '9000',
  })
  return { operatorToken, environmentOf }
}

async function runCommand(environment: Record<string, string>, args: readonly string[]): Promise<Json[]> {
  const program = startProgram({ env: environment, command: [serverMain], args })
  const { code } = await program.ended
  if (code !== 0) throw new Error(`swapyard ${args.join(' ')} exited with ${code}: ${program.output()}`)
  const lines = program.output().split('\n')
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json)
}

export async function startProductionSetup(
  postgresOptions: ExternalPostgresOptions = { hasChecksums: true },
): Promise<ProductionSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-production-'))
  const locals = await startLocalNetworks()
  const { chains, bitcoin } = locals
  const [postgres, prices] = await Promise.all([startExternalPostgres(postgresOptions), servePriceDocuments()])
  const databaseUrls = await createDatabase(postgres)
  const { operatorToken, environmentOf } = createEnvironments(folder, databaseUrls)
  for (const role of ['api', 'worker']) mkdirSync(join(folder, role))
  return {
    folder,
    postgres,
    chains,
    bitcoin,
    operatorToken,
    databaseUrls,
    environmentOf,
    writeConfig(change = () => undefined) {
      const config = localizeExample(locals, prices.sources)
      change(config)
      writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
    },
    start: (role, environment = {}) =>
      startProgram({
        env: { ...environmentOf(role), ...environment },
        command: [serverMain, 'start'],
        args: ['--role', role],
      }),
    run: (...args) => runCommand(environmentOf('worker'), args),
    async migrate() {
      const environment = { ...environmentOf('worker'), DATABASE_URL_FILE: '', DATABASE_URL: databaseUrls.owner }
      await runCommand(environment, ['migrate', '--grant', 'swapyard_api', 'swapyard_worker'])
    },
    async stop() {
      await Promise.all([locals.stop(), prices.stop(), postgres.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
