import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Type, { type TSchema } from 'typebox'
import Value from 'typebox/value'
import type { WalletSettings } from '../app/chains.ts'
import type { SpreadPolicy } from '../core/domain/book.ts'
import type { PrivacySettings } from '../exchange/settings.ts'
import { nearest } from '../lib/closest-name.ts'
import { readOrCreateSecret } from '../lib/secret-file.ts'
import { whyUnusable } from '../lib/writable-directory.ts'
import { type ConfigFile, fileSchema, toMs } from './file.ts'
import { assembleMonero } from './monero.ts'
import { assemblePrivacy } from './privacy.ts'
import { networkProblems, toNetworks } from './sandbox.ts'
import { assembleSwaps, type SwapConfig, swapProblems } from './swaps.ts'

/** Everything that the operator decides. Deeply frozen. Secrets in it are printed by `describeConfig` alone, masked. */
export type Config = Readonly<{
  environment: 'production' | 'sandbox'
  host: string
  port: number
  /** null = a worker listens on none. */
  workerPort: number | null
  /** null = made of host and port once the server listens. */
  publicUrl: string | null
  /** null = the embedded database in the data folder. */
  databaseUrl: string | null
  poolMax: number
  dataDir: string
  chainsFile: string
  logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug'
  /** false only in the sandbox: neither requests nor wrong keys are counted. */
  rateLimit: boolean
  trustedProxies: number
  operatorToken: string | null
  pepper: string
  keystore: Readonly<{ file: string; passphrase: string | null }>
  sandbox: Readonly<{ networks: readonly string[] | 'all' | null; still: boolean }>
  networks: ReadonlyMap<string, Readonly<{ rpcUrls: readonly string[] }>>
  currencies: ReadonlyMap<string, Readonly<{ enabled?: boolean; rank?: number; feedCode?: string }>>
  /** null = the sandbox's own, which are not real. */
  prices: Readonly<{ sources: readonly string[]; quorum: number }> | null
  /** As `network:address`. */
  denied: readonly string[]
  spreads: SpreadPolicy
  privacy: PrivacySettings
  monero: WalletSettings
  clocks: Readonly<{ rateIdMs: number; fixedLockMs: number; expiryMs: number; stuckMs: number; drainMs: number }>
  /** Dollars scaled by 10^12. */
  limits: Readonly<{ perTransactionUsd: bigint; hourUsd: bigint; dayUsd: bigint }>
  /** By asset, in coins as the file has them. */
  signerLimits: ReadonlyMap<string, Readonly<Record<'transaction' | 'hour' | 'day', string>>>
  swaps: SwapConfig
  partners: Readonly<{ feeBps: number; openExchangesMax: number; rateLimitPerMinute: number }>
}>

/** Settings with which the program does not start. All of them at once; the program prints them and exits 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`the settings are not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

const oneOf = <T extends string>(values: readonly T[], options: object) =>
  Type.Unsafe<T>(Type.String({ enum: [...values], ...options }))
const text = (description: string, options: object = {}) => Type.String({ description, maxLength: 4096, ...options })
const secret = (description: string, options: object = {}) => text(description, { secret: true, ...options })

/** The environment. `default` is what holds where it is unset; a `secret` may also be given as a file: NAME_FILE. */
export const environmentSchema = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080, description: 'Port of the API; 0 takes a free one' }),
  SWAPYARD_WORKER_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    description: 'Port of a worker for /health and /metrics alone. Unset: a worker listens on none',
  }),
  HOST: text('Address to listen on; the sandbox listens on loopback only', { default: '127.0.0.1' }),
  DATABASE_URL: secret('PostgreSQL 15 or later. Unset: an embedded one in the data folder', {
    pattern: '^postgres(ql)?://',
  }),
  SWAPYARD_CONFIG: text('Path of the JSON file of networks, currencies and limits. Unset: the sandbox'),
  SWAPYARD_DATA_DIR: text('Folder of everything that lasts on this machine. One process at a time', {
    default: '.swapyard',
  }),
  SWAPYARD_CHAINS: text("Path of the sandbox chains' chains.json. Unset: in the data folder"),
  SWAPYARD_SANDBOX_NETWORKS: text(
    'Networks that the sandbox starts: a comma list or `all`. Unset: enough to try every feature',
    {
      pattern: '^[a-zA-Z0-9, ]+$',
    },
  ),
  SWAPYARD_SANDBOX_STILL: oneOf(['0', '1'], {
    default: '0',
    description: '1 freezes the prices of the sandbox and the trader that moves its pools',
  }),
  SWAPYARD_RATE_LIMIT: oneOf(['on', 'off'], {
    default: 'on',
    description: '`off` counts neither requests nor wrong keys; in the sandbox only',
  }),
  SWAPYARD_LOG_LEVEL: oneOf(['silent', 'error', 'warn', 'info', 'debug'], {
    default: 'info',
    description: 'Least level that is logged',
  }),
  SWAPYARD_PUBLIC_URL: text('Where partners reach the API, without a trailing slash. Unset: http://HOST:PORT', {
    pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
  }),
  SWAPYARD_TRUST_PROXY: Type.Integer({
    minimum: 0,
    maximum: 10,
    default: 0,
    description: 'Own proxies in front; 0 believes no forwarded address',
  }),
  SWAPYARD_POOL_MAX: Type.Integer({
    minimum: 2,
    maximum: 90,
    default: 10,
    description: 'Connections to the database, per process',
  }),
  SWAPYARD_KEYSTORE: text('Path of the encrypted keystore. Unset: keystore.json in the data folder'),
  SWAPYARD_KEYSTORE_PASSPHRASE: secret(
    'Opens the keystore. Workers need it, API processes do not. The sandbox makes its own',
  ),
  SWAPYARD_PEPPER: secret(
    'Key of the hashes of API keys and of rateIds; equal on all processes of a database. The sandbox makes its own',
  ),
  SWAPYARD_OPERATOR_TOKEN: secret(
    'Bearer token that opens /metrics from elsewhere than loopback. Unset: from loopback only',
  ),
})

type Environment = Readonly<Record<string, string | undefined>>
type Given = Readonly<Record<string, string | number | undefined>>

const PREFIX = 'SWAPYARD_'
/** Names that belong to test runs, not to the program. */
const RESERVED = 'SWAPYARD_TEST_'
const SECRET_LENGTH_MIN = 16
const USD = 10n ** 12n

/** Reads and checks all settings. Throws a ConfigError with every problem. The only reader of the environment. */
export function loadConfig(environment: Environment = process.env): Config {
  const problems: string[] = []
  const given = readEnvironment(environment, problems)
  const file = readFile(given['SWAPYARD_CONFIG'], problems)
  const kind =
    given['SWAPYARD_CONFIG'] === undefined ? 'sandbox' : file.environment === 'sandbox' ? 'sandbox' : 'production'
  if (kind === 'production') checkProduction(given, file, problems)
  else checkSandbox(given, problems)
  checkDataFolder(given, problems)
  problems.push(...swapProblems(file.swaps))
  if (problems.length > 0) throw new ConfigError(problems)
  return freeze(assemble(kind, given, file))
}

/** What production needs; without a config file, all of it is missing. For commands that make no sense in the sandbox. */
export function requireProduction(config: Config): void {
  if (config.environment === 'production') return
  throw new ConfigError([
    'SWAPYARD_CONFIG is missing: the path of a JSON file with `networks`, each with its `rpcUrls`, and `prices`, its `sources` and their `quorum` (docs/settings.md)',
    'DATABASE_URL is missing: the PostgreSQL that all processes share',
    'SWAPYARD_PEPPER is missing: the same on all processes, for example from `openssl rand -hex 32`',
    'SWAPYARD_KEYSTORE_PASSPHRASE is missing: it opens the keystore that `swapyard keystore create` made',
  ])
}

function readEnvironment(environment: Environment, problems: string[]): Given {
  const known: Record<string, TSchema> = environmentSchema.properties
  const names = Object.entries(known).flatMap(([name, schema]) =>
    'secret' in schema ? [name, `${name}_FILE`] : [name],
  )
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || name.startsWith(RESERVED) || names.includes(name)) continue
    problems.push(`${name} is not a setting; the nearest is ${nearest(name, names)}`)
  }
  const given: Record<string, string | number> = {}
  for (const [name, schema] of Object.entries(known)) {
    const value = readOne(name, schema, environment, problems)
    if (value !== undefined) given[name] = value
  }
  return given
}

/** An empty variable counts as unset: that is how many tools write it. */
function readOne(
  name: string,
  schema: TSchema,
  environment: Environment,
  problems: string[],
): string | number | undefined {
  const isSecret = 'secret' in schema
  let value = environment[name] || undefined
  const path = isSecret ? environment[`${name}_FILE`] || undefined : undefined
  if (value !== undefined && path !== undefined) problems.push(`${name} and ${name}_FILE are both set: one of them`)
  else if (path !== undefined) {
    try {
      value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    } catch {
      problems.push(`${name}_FILE: ${path} cannot be read`)
    }
  }
  if (value === undefined) return 'default' in schema ? (schema.default as string | number) : undefined
  const typed = 'type' in schema && schema.type === 'integer' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value
  for (const error of Value.Errors(schema, typed)) {
    problems.push(`${name} ${explain(error)}${isSecret ? '' : `, and is ${JSON.stringify(value)}`}`)
  }
  return typed
}

function readFile(path: string | number | undefined, problems: string[]): ConfigFile {
  if (typeof path !== 'string') return {}
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    problems.push(`SWAPYARD_CONFIG: ${path} ${error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}`)
    return {}
  }
  const errors = [...Value.Errors(fileSchema, value)].filter(({ keyword }) => keyword !== 'boolean')
  for (const error of errors)
    problems.push(
      `SWAPYARD_CONFIG: ${error.instancePath.slice(1).replaceAll('/', '.') || 'the file'} ${explain(error)}`,
    )
  return errors.length === 0 ? (value as ConfigFile) : {}
}

function explain({ keyword, message, params }: { keyword: string; message: string; params: object }): string {
  const extra = 'additionalProperties' in params ? params.additionalProperties : null
  if (keyword === 'additionalProperties' && Array.isArray(extra)) return `has unknown names: ${extra.join(', ')}`
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}`
  return message
}

function checkDataFolder(given: Given, problems: string[]): void {
  const folder = resolve(String(given['SWAPYARD_DATA_DIR']))
  const reason = whyUnusable(folder)
  if (reason !== null) problems.push(`SWAPYARD_DATA_DIR is ${folder}, and ${reason}`)
}

function checkSandbox(given: Given, problems: string[]): void {
  const host = String(given['HOST'])
  if (!/^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/.test(host)) {
    problems.push(
      `HOST is ${JSON.stringify(host)}: the sandbox has keys that everybody knows and listens on loopback only`,
    )
  }
  problems.push(...networkProblems(given['SWAPYARD_SANDBOX_NETWORKS']))
}

/** Refuses what would be unsafe with real money. */
function checkProduction(given: Given, file: ConfigFile, problems: string[]): void {
  if (Object.keys(file.networks ?? {}).length === 0)
    problems.push('SWAPYARD_CONFIG: networks is missing: at least one, with its rpcUrls')
  if (file.prices === undefined)
    problems.push('SWAPYARD_CONFIG: prices is missing: its sources, and how many must agree')
  for (const name of ['DATABASE_URL', 'SWAPYARD_PEPPER']) {
    if (given[name] === undefined) problems.push(`${name} is missing (or ${name}_FILE)`)
  }
  for (const name of ['SWAPYARD_PEPPER', 'SWAPYARD_KEYSTORE_PASSPHRASE', 'SWAPYARD_OPERATOR_TOKEN']) {
    const value = given[name]
    if (typeof value === 'string' && value.length < SECRET_LENGTH_MIN)
      problems.push(`${name} is shorter than ${SECRET_LENGTH_MIN} characters`)
  }
  if (given['SWAPYARD_RATE_LIMIT'] === 'off') problems.push('SWAPYARD_RATE_LIMIT=off is accepted in the sandbox only')
  for (const name of ['SWAPYARD_SANDBOX_NETWORKS', 'SWAPYARD_CHAINS']) {
    if (given[name] !== undefined) problems.push(`${name} is for the sandbox only`)
  }
  if (given['SWAPYARD_SANDBOX_STILL'] === '1') problems.push('SWAPYARD_SANDBOX_STILL is for the sandbox only')
}

function assemble(kind: Config['environment'], given: Given, file: ConfigFile): Config {
  const string = (name: string): string | null => (typeof given[name] === 'string' ? given[name] : null)
  const integer = (name: string): number => given[name] as number
  const dataDir = resolve(string('SWAPYARD_DATA_DIR') ?? '')
  const own = (name: string): string | null =>
    kind === 'sandbox' ? readOrCreateSecret(join(dataDir, 'secrets', name)) : null
  return {
    environment: kind,
    host: string('HOST') ?? '',
    port: integer('PORT'),
    workerPort: typeof given['SWAPYARD_WORKER_PORT'] === 'number' ? given['SWAPYARD_WORKER_PORT'] : null,
    publicUrl: string('SWAPYARD_PUBLIC_URL'),
    databaseUrl: string('DATABASE_URL'),
    poolMax: integer('SWAPYARD_POOL_MAX'),
    dataDir,
    chainsFile: resolve(string('SWAPYARD_CHAINS') ?? join(dataDir, 'chains.json')),
    logLevel: (string('SWAPYARD_LOG_LEVEL') ?? 'info') as Config['logLevel'],
    rateLimit: string('SWAPYARD_RATE_LIMIT') !== 'off',
    trustedProxies: integer('SWAPYARD_TRUST_PROXY'),
    operatorToken: string('SWAPYARD_OPERATOR_TOKEN'),
    pepper: string('SWAPYARD_PEPPER') ?? own('pepper') ?? '',
    keystore: {
      file: resolve(string('SWAPYARD_KEYSTORE') ?? join(dataDir, 'keystore.json')),
      passphrase: string('SWAPYARD_KEYSTORE_PASSPHRASE') ?? own('keystore-passphrase'),
    },
    sandbox: {
      networks: toNetworks(string('SWAPYARD_SANDBOX_NETWORKS')),
      still: string('SWAPYARD_SANDBOX_STILL') === '1',
    },
    ...assembleFile(file, kind),
  }
}

type FromFile = Pick<
  Config,
  | 'networks'
  | 'currencies'
  | 'prices'
  | 'denied'
  | 'spreads'
  | 'clocks'
  | 'privacy'
  | 'monero'
  | 'limits'
  | 'signerLimits'
  | 'partners'
  | 'swaps'
>

function assembleFile(file: ConfigFile, environment: Config['environment']): FromFile {
  const { spreads, clocks, limits, partners } = withDefaults(file)
  const networks = Object.entries(file.networks ?? {}).map(([ticker, { rpcUrls }]) => [ticker, { rpcUrls }] as const)
  const usd = (value: unknown): bigint => BigInt(value as number) * USD
  return {
    networks: new Map(networks),
    currencies: new Map(Object.entries(file.currencies ?? {})),
    prices: file.prices ?? null,
    denied: file.screening?.denied ?? [],
    spreads: {
      bps: {
        stable: spreads['stableBps'] as number,
        major: spreads['majorBps'] as number,
        minor: spreads['minorBps'] as number,
      },
      fixedRateExtraBps: spreads['fixedRateExtraBps'] as number,
    },
    clocks: {
      rateIdMs: toMs(clocks['rateId'] as string),
      fixedLockMs: toMs(clocks['fixedLock'] as string),
      expiryMs: toMs(clocks['expiry'] as string),
      stuckMs: toMs(clocks['stuck'] as string),
      // Who tries it out does not wait for a balancer.
      drainMs: environment === 'sandbox' && file.clocks?.drain === undefined ? 0 : toMs(clocks['drain'] as string),
    },
    privacy: assemblePrivacy(file.privacy, environment, toMs),
    monero: assembleMonero(file.monero),
    limits: {
      perTransactionUsd: usd(limits['perTransactionUsd']),
      hourUsd: usd(limits['hourUsd']),
      dayUsd: usd(limits['dayUsd']),
    },
    swaps: assembleSwaps(file.swaps, toMs),
    signerLimits: new Map(Object.entries(file.signer?.limits ?? {})),
    partners: {
      feeBps: partners['feeBps'] as number,
      openExchangesMax: partners['openExchangesMax'] as number,
      rateLimitPerMinute: partners['rateLimitPerMinute'] as number,
    },
  }
}

/** The defaults that the schema states, under what the file says. */
function withDefaults(file: ConfigFile): Record<'spreads' | 'clocks' | 'limits' | 'partners', Record<string, unknown>> {
  const section = (name: 'spreads' | 'clocks' | 'limits' | 'partners') => {
    const properties: Record<string, TSchema> = fileSchema.properties[name].properties
    const defaults = Object.entries(properties).map(([key, schema]) => [
      key,
      'default' in schema ? schema.default : undefined,
    ])
    return { ...Object.fromEntries(defaults), ...file[name] } as Record<string, unknown>
  }
  return {
    spreads: section('spreads'),
    clocks: section('clocks'),
    limits: section('limits'),
    partners: section('partners'),
  }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of value instanceof Map ? value.values() : Object.values(value)) freeze(member)
  return value
}
