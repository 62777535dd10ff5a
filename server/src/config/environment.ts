import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import Type, { type StaticDecode, type TSchema } from 'typebox'
import { networks as definitions } from '../../networks/index.ts'
import { findClosestName } from '../lib/closest-name.ts'
import { decode, integer, oneOf, whole } from './schema.ts'

const text = (description: string, options: object = {}) => Type.String({ description, maxLength: 4096, ...options })
/** May also be given as a file: NAME_FILE. Its value is never printed. */
const secret = (description: string, options: object = {}) => text(description, { secret: true, ...options })
const path = (description: string, options: object = {}) => Type.Decode(text(description, options), (at) => resolve(at))

/** The environment variables. */
export const environmentSchema = Type.Object({
  PORT: whole(8080, [0, 65535], 'Port of the API; 0 takes a free port'),
  SWAPYARD_WORKER_PORT: Type.Optional(
    integer([0, 65535], 'Port of a worker, which serves only /health and /metrics. Unset: a worker does not listen'),
  ),
  HOST: text('Address to listen on; the sandbox accepts a loopback address only', { default: '127.0.0.1' }),
  DATABASE_URL: Type.Optional(
    secret('URL of a PostgreSQL database, version 15 or later. Unset: an embedded database in the data directory', {
      pattern: '^postgres(ql)?://',
      shows: 'host',
    }),
  ),
  SWAPYARD_CONFIG: Type.Optional(
    text('Path of the JSON config file (networks, currencies, limits and others). Unset: the sandbox'),
  ),
  SWAPYARD_DATA_DIR: path('Directory for all files that the process keeps; one process at a time can use it', {
    default: '.swapyard',
  }),
  SWAPYARD_CHAINS: Type.Optional(path("Path of the sandbox chains' chains.json. Unset: in the data directory")),
  SWAPYARD_SANDBOX_NETWORKS: Type.Optional(
    Type.Decode(
      text(
        'Networks that the sandbox starts: a comma-separated list or `all`. Unset: all whose programs are installed',
        {
          pattern: '^[a-zA-Z0-9, ]+$',
        },
      ),
      parseNetworks,
    ),
  ),
  SWAPYARD_SANDBOX_STILL: Type.Decode(
    oneOf(['0', '1'], '0', '1 freezes the prices of the sandbox and stops the trader that moves its pools'),
    (value) => value === '1',
  ),
  SWAPYARD_RATE_LIMIT: Type.Decode(
    oneOf(['on', 'off'], 'on', '`off` disables the limits on requests and on wrong keys; in the sandbox only'),
    (value) => value === 'on',
  ),
  SWAPYARD_LOG_LEVEL: oneOf(['silent', 'error', 'warn', 'info', 'debug'], 'info', 'Lowest level that is logged'),
  SWAPYARD_PUBLIC_URL: Type.Optional(
    text(
      'URL at which partners reach the API, without a trailing slash. The same for all processes: answers contain it. Unset: http://HOST:PORT',
      {
        pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
      },
    ),
  ),
  SWAPYARD_TRUST_PROXY: whole(
    0,
    [0, 10],
    'Number of your own proxies in front of the API; 0 ignores forwarded addresses',
  ),
  SWAPYARD_POOL_MAX: whole(10, [2, 90], 'Database connections per process'),
  SWAPYARD_POOL_WAIT_MS: whole(
    2_000,
    [100, 60_000],
    'Maximum wait for a database connection, in ms; then a request is answered with 503',
  ),
  SWAPYARD_KEYSTORE: Type.Optional(path('Path of the encrypted keystore. Unset: keystore.json in the data directory')),
  SWAPYARD_KEYSTORE_PASSPHRASE: Type.Optional(
    secret('Passphrase of the keystore. Required by workers, not by API processes. The sandbox generates its own'),
  ),
  SWAPYARD_PEPPER: Type.Optional(
    secret(
      'Key for the hashes of API keys, for rateIds, for the authentication codes of payees and for the secrets of webhooks; the same on all processes of a database. The sandbox generates its own',
    ),
  ),
  SWAPYARD_PEPPER_PREVIOUS: Type.Optional(
    secret(
      'The pepper before the present one: payees that were accepted under it stay valid, and secrets of webhooks readable. Set it while the exchanges and payouts of that time are open, and until partners have rotated their webhooks',
    ),
  ),
  SWAPYARD_MAIL_URL: Type.Optional(
    secret(
      'SMTP server for e-mails to partners: `smtps://user:password@host:465`, or `smtp://…`, which uses STARTTLS where it is offered. Unset: no e-mails, and partners cannot set a fee address',
      { pattern: '^smtps?://', shows: 'host' },
    ),
  ),
  SWAPYARD_MAIL_FROM: Type.Optional(
    text('Sender of e-mails to partners, for example `Swapyard <alerts@example.com>`; required by SWAPYARD_MAIL_URL', {
      pattern: '^[^\\r\\n]*[^\\s@<>]+@[^\\s@<>]+>?$',
    }),
  ),
  SWAPYARD_OPERATOR_TOKEN: Type.Optional(
    secret('Bearer token for /metrics from addresses other than loopback. Unset: loopback only'),
  ),
  SWAPYARD_ADMIN_URL: Type.Optional(
    text('URL of the admin API for the command line, which then works remotely. Unset: on this server', {
      pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
    }),
  ),
})

export type Variables = Readonly<Record<string, string | undefined>>

export type Environment = Readonly<{
  values: StaticDecode<typeof environmentSchema>
  /** What was set, before it is decoded. It contains secrets. */
  given: Readonly<Record<string, string | number>>
  /** Whether the variable, or the file that it may be given as, is set and not empty, usable or not. */
  isSet(name: string): boolean
}>

const PREFIX = 'SWAPYARD_'
/** Names that belong to test runs, not to the program. */
const RESERVED = 'SWAPYARD_TEST_'

/** The server on which commands of the operator act; null = this one. Read without the other settings: they are of the server. */
export const readAdminUrl = (variables: Variables = process.env): string | null =>
  variables['SWAPYARD_ADMIN_URL']?.replace(/\/+$/, '') || null

/** Reads and checks the variables. The only reader of the process's environment. */
export function readEnvironment(problems: string[], variables: Variables = process.env): Environment {
  const schemas: Record<string, TSchema> = environmentSchema.properties
  const names = Object.entries(schemas).flatMap(([name, schema]) => (isSecret(schema) ? [name, fileOf(name)] : [name]))
  for (const name of Object.keys(variables)) {
    if (!name.startsWith(PREFIX) || name.startsWith(RESERVED) || names.includes(name)) continue
    problems.push(`${name} is not a setting; did you mean ${findClosestName(name, names)}?`)
  }
  const unreadable = new Set<string>()
  const texts = new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const value = readText(name, isSecret(schema), variables, problems)
      if (value === null) unreadable.add(name)
      return value ? [[name, value] as const] : []
    }),
  )
  const given = Object.fromEntries([...texts].map(([name, value]) => [name, toNumber(schemas[name], value)]))
  const decoded = decode(environmentSchema, given)
  for (const { path: name, message } of decoded.problems) {
    const shown = isSecret(schemas[name]) ? '' : `, and is ${JSON.stringify(texts.get(name))}`
    problems.push(`${name} ${message}${shown}`)
  }
  return { values: decoded.value, given, isSet: (name) => texts.has(name) || unreadable.has(name) }
}

export const isSecret = (schema: TSchema | undefined): boolean => schema !== undefined && 'secret' in schema

export const fileOf = (name: string): string => `${name}_FILE`

/**
 * The value; '' = unset, null = its file cannot be read. An empty variable or file counts as unset: many tools write it that
 * way, and an empty secret would be a key that everyone knows.
 */
function readText(name: string, mayBeFile: boolean, variables: Variables, problems: string[]): string | null {
  const value = variables[name] ?? ''
  const file = mayBeFile ? variables[fileOf(name)] : undefined
  if (!file) return value
  if (value !== '') {
    problems.push(`${name} and ${fileOf(name)} are both set: set only one of them`)
    return value
  }
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    problems.push(`${fileOf(name)}: ${file} cannot be read`)
    return null
  }
}

/** Decimal digits alone become a number: 1e3 and 0x10 are refused. */
function toNumber(schema: TSchema | undefined, value: string): string | number {
  return Type.IsInteger(schema) && /^[0-9]{1,15}$/.test(value) ? Number.parseInt(value, 10) : value
}

function parseNetworks(list: string): readonly string[] | 'all' {
  const names = list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.includes('all') ? 'all' : names
}

/** Names of the list that are no networks at all. The sandbox's chains themselves report a network that they do not have. */
export function unknownNetworks({ SWAPYARD_SANDBOX_NETWORKS: names = [] }: Environment['values']): readonly string[] {
  if (names === 'all') return []
  const known = definitions.map(({ id }) => id)
  return names
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `SWAPYARD_SANDBOX_NETWORKS contains ${name}, which is not a network; did you mean ${findClosestName(name, known)}?`,
    )
}
