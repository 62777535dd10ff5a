import { join } from 'node:path'
import { readOrCreateSecret } from '../lib/secret-file.ts'
import { whyUnusable } from '../lib/writable-directory.ts'
import { type Environment, fileOf, readEnvironment, unknownNetworks, type Variables } from './environment.ts'
import { type FileConfig, readConfigFile } from './file.ts'
import { isLoopback } from './loopback.ts'

/** All settings of the operator, deeply frozen. It contains secrets: only `describeConfig` prints it, masked. */
export type Config = Omit<FileConfig, 'given'> &
  Readonly<{
    /** The variables and the file as they were written, for `describeConfig`. */
    given: Readonly<{ variables: Readonly<Record<string, unknown>>; file: FileConfig['given'] }>
    host: string
    port: number
    /** null = a worker does not listen. */
    workerPort: number | null
    /** null = derived from host and port once the server listens. */
    publicUrl: string | null
    /** null = the embedded database in the data directory. */
    databaseUrl: string | null
    poolMax: number
    poolWaitMs: number
    dataDir: string
    chainsFile: string
    logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug'
    /** false only in the sandbox: neither requests nor wrong keys are limited. */
    rateLimit: boolean
    trustedProxies: number
    operatorToken: string | null
    pepper: string
    previousPepper: string | null
    /** null = no e-mails are sent. */
    mail: Readonly<{ url: string; from: string }> | null
    keystore: Readonly<{ file: string; passphrase: string | null }>
    sandbox: Readonly<{ networks: readonly string[] | 'all' | null; still: boolean }>
  }>

/** Settings with which the program cannot start, with every problem. The program prints them and exits with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`the settings are not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Reads and checks all settings. Throws a ConfigError with every problem. */
export function loadConfig(variables?: Variables): Config {
  const problems: string[] = []
  const environment = readEnvironment(problems, variables)
  const file = readConfigFile(environment.values.SWAPYARD_CONFIG, problems)
  problems.push(
    ...(file.environment === 'production'
      ? productionProblems(environment, file)
      : sandboxProblems(environment.values)),
  )
  const { SWAPYARD_DATA_DIR: dataDir, SWAPYARD_MAIL_URL: mailUrl, SWAPYARD_MAIL_FROM: mailFrom } = environment.values
  if ((mailUrl === undefined) !== (mailFrom === undefined))
    problems.push('SWAPYARD_MAIL_URL and SWAPYARD_MAIL_FROM belong together: set both or neither')
  const reason = whyUnusable(dataDir)
  if (reason !== null) problems.push(`SWAPYARD_DATA_DIR is ${dataDir}, and ${reason}`)
  if (problems.length > 0) throw new ConfigError(problems)
  return freeze(assemble(environment, file))
}

/** Requires a production config. For commands that make no sense in the sandbox. */
export function requireProduction(config: Config): void {
  if (config.environment === 'production') return
  throw new ConfigError([
    'SWAPYARD_CONFIG is missing: the path of a JSON file with `networks`, each with its `rpcUrls`, and `prices`, its `sources` and their `quorum` (docs/settings.md)',
    'DATABASE_URL is missing: the PostgreSQL database that all processes share',
    'SWAPYARD_PEPPER is missing: the same on all processes, for example from `openssl rand -hex 32`',
    'SWAPYARD_KEYSTORE_PASSPHRASE is missing: it opens the keystore that `swapyard keystore create` made',
  ])
}

/** The sandbox runs without these. */
const OF_SERVERS = ['DATABASE_URL', 'SWAPYARD_PEPPER', 'SWAPYARD_KEYSTORE_PASSPHRASE']

/** Refuses to take the sandbox for granted where settings of a server are set. `remedy`: what else to do. */
export function requireNamedEnvironment({ given: { variables } }: Config, remedy: string): void {
  const named = OF_SERVERS.filter((name) => name in variables)
  if ('SWAPYARD_CONFIG' in variables || named.length === 0) return
  throw new ConfigError([
    `SWAPYARD_CONFIG is missing, and these are set: ${named.join(', ')}. Without a config file a command acts for the sandbox. Set it to the config file of production; for the sandbox, to a file with {"environment": "sandbox"}, ${remedy}`,
  ])
}

function sandboxProblems(values: Environment['values']): readonly string[] {
  const problem = `HOST is ${JSON.stringify(values.HOST)}: the sandbox has publicly known keys and listens on loopback only`
  return [...(isLoopback(values.HOST) ? [] : [problem]), ...unknownNetworks(values)]
}

const SECRET_LENGTH_MIN = 16
const LONG_SECRETS = [
  'SWAPYARD_PEPPER',
  'SWAPYARD_PEPPER_PREVIOUS',
  'SWAPYARD_KEYSTORE_PASSPHRASE',
  'SWAPYARD_OPERATOR_TOKEN',
] as const

/** Refuses settings that are unsafe with real money. */
function productionProblems({ values, isSet }: Environment, { admin }: FileConfig): readonly string[] {
  const problems: string[] = []
  if (admin.enabled && !values.SWAPYARD_PUBLIC_URL?.startsWith('https://'))
    problems.push('admin.enabled needs SWAPYARD_PUBLIC_URL, the https URL at which operators reach this server')
  for (const name of ['DATABASE_URL', 'SWAPYARD_PEPPER'])
    if (!isSet(name)) problems.push(`${name} is missing (or ${fileOf(name)})`)
  for (const name of LONG_SECRETS)
    if ((values[name]?.length ?? SECRET_LENGTH_MIN) < SECRET_LENGTH_MIN)
      problems.push(`${name} is shorter than ${SECRET_LENGTH_MIN} characters`)
  if (!values.SWAPYARD_RATE_LIMIT) problems.push('SWAPYARD_RATE_LIMIT=off is accepted in the sandbox only')
  for (const name of ['SWAPYARD_SANDBOX_NETWORKS', 'SWAPYARD_CHAINS'])
    if (isSet(name)) problems.push(`${name} is for the sandbox only`)
  if (values.SWAPYARD_SANDBOX_STILL) problems.push('SWAPYARD_SANDBOX_STILL is for the sandbox only')
  return problems
}

function assemble({ values, given }: Environment, file: FileConfig): Config {
  const dataDir = values.SWAPYARD_DATA_DIR
  const generated = (name: string): string | null =>
    file.environment === 'sandbox' ? readOrCreateSecret(join(dataDir, 'secrets', name)) : null
  return {
    ...file,
    given: { variables: given, file: file.given },
    host: values.HOST,
    port: values.PORT,
    workerPort: values.SWAPYARD_WORKER_PORT ?? null,
    publicUrl: values.SWAPYARD_PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    poolMax: values.SWAPYARD_POOL_MAX,
    poolWaitMs: values.SWAPYARD_POOL_WAIT_MS,
    dataDir,
    chainsFile: values.SWAPYARD_CHAINS ?? join(dataDir, 'chains.json'),
    logLevel: values.SWAPYARD_LOG_LEVEL,
    rateLimit: values.SWAPYARD_RATE_LIMIT,
    trustedProxies: values.SWAPYARD_TRUST_PROXY,
    operatorToken: values.SWAPYARD_OPERATOR_TOKEN ?? null,
    pepper: values.SWAPYARD_PEPPER ?? generated('pepper') ?? '',
    previousPepper: values.SWAPYARD_PEPPER_PREVIOUS ?? null,
    mail: toMail(values),
    keystore: {
      file: values.SWAPYARD_KEYSTORE ?? join(dataDir, 'keystore.json'),
      passphrase: values.SWAPYARD_KEYSTORE_PASSPHRASE ?? generated('keystore-passphrase'),
    },
    sandbox: { networks: values.SWAPYARD_SANDBOX_NETWORKS ?? null, still: values.SWAPYARD_SANDBOX_STILL },
  }
}

function toMail({ SWAPYARD_MAIL_URL: url, SWAPYARD_MAIL_FROM: from }: Environment['values']): Config['mail'] {
  return url === undefined || from === undefined ? null : { url, from }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of value instanceof Map ? value.values() : Object.values(value)) freeze(member)
  return value
}
