import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../server/src/lib/assert.ts'
import { type Anvil, startAnvil } from '../../server/test/adapters/chains/evm/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../server/test/adapters/chains/evm/faulty-node.ts'
import {
  type ExternalPostgres,
  type ExternalPostgresOptions,
  startExternalPostgres,
} from '../support/external-postgres.ts'
import { serverMain } from '../support/server-main.ts'
import { type LocalBitcoin, startLocalBitcoin } from './local-bitcoin.ts'
import { servePriceDocuments } from './price-documents.ts'
import { type Json, type Program, startProgram } from './program.ts'

/*
 * Everything that docs/guides/operate.md asks of an operator, on this machine: no part of it is the sandbox's. The two endpoints of
 * a network are proxies of one node, so nodes that disagree are not tested here.
 */

const example = join(import.meta.dirname, '../../docs/examples/production.json')
/**
 * Networks that have a local node with the parameters of the main chain. In anvil `safe` is one epoch of `slots` blocks below the
 * head and `finalized` two. The epoch of Base is longer than the confirmations that its deposits of any value need.
 */
const networks = {
  eth: { chainId: 1, slots: 4 },
  bsc: { chainId: 56, slots: 4 },
  base: { chainId: 8453, slots: 100 },
} as const
export type LocalNetwork = keyof typeof networks
/** More blocks than any of the networks needs for finality. */
const FIRST_BLOCKS = 1_000

type Role = 'api' | 'worker'
/** One chain, and two endpoints in front of it. */
export type LocalChain = Readonly<{ anvil: Anvil; endpoints: readonly [FaultyNode, FaultyNode] }>

export type ProductionSetup = Readonly<{
  folder: string
  postgres: ExternalPostgres
  chains: Readonly<Record<LocalNetwork, LocalChain>>
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

async function startChain(network: LocalNetwork): Promise<LocalChain> {
  const { chainId, slots } = networks[network]
  const anvil = await startAnvil(['--chain-id', String(chainId), '--slots-in-an-epoch', String(slots)])
  await anvil.mine(FIRST_BLOCKS)
  return { anvil, endpoints: [await startFaultyNode(anvil.url), await startFaultyNode(anvil.url)] }
}

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
  // First: it mines in this process, which delays the answers that the other starts wait for.
  const bitcoin = await startLocalBitcoin()
  const [postgres, prices, eth, bsc, base] = await Promise.all([
    startExternalPostgres(postgresOptions),
    servePriceDocuments(),
    startChain('eth'),
    startChain('bsc'),
    startChain('base'),
  ])
  const chains = { eth, bsc, base }
  const databaseUrls = await createDatabase(postgres)
  const { operatorToken, environmentOf } = createEnvironments(folder, databaseUrls)
  for (const role of ['api', 'worker']) mkdirSync(join(folder, role))
  const endpointsOf = new Map<string, readonly FaultyNode[]>([
    ['btc', bitcoin.endpoints],
    ...Object.entries(chains).map(([network, { endpoints }]) => [network, endpoints] as const),
  ])
  return {
    folder,
    postgres,
    chains,
    bitcoin,
    operatorToken,
    databaseUrls,
    environmentOf,
    writeConfig(change = () => undefined) {
      const config = JSON.parse(readFileSync(example, 'utf8')) as Json
      for (const [network, settings] of Object.entries<Json>(config.networks))
        settings.rpcUrls = present(endpointsOf.get(network), `local nodes of ${network}`).map(({ url }) => url)
      config.prices.sources = prices.sources
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
      const locals = Object.values(chains)
      await Promise.all(locals.flatMap(({ endpoints }) => endpoints.map((endpoint) => endpoint.stop())))
      await Promise.all([...locals.map(({ anvil }) => anvil.stop()), bitcoin.stop(), prices.stop(), postgres.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
