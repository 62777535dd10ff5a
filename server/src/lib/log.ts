import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'

export type LogLevel = LevelWithSilent

/** Object first, constant message after it. `error` = a person must look; `warn` = watch the rate; `info` = a fact; `debug` = protocol detail. */
export type Log = Readonly<{
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  /** The same log with fields in every line, for example `{ component: 'watcher', network }`. */
  child(fields: object): Log
}>

/** Field names of secrets and signed transactions. Masked in every line, down to the third depth. */
export const secretNames = [
  'x-api-key',
  'authorization',
  'apiKey',
  'key',
  'secret',
  'secrets',
  'password',
  'passphrase',
  'pepper',
  'seed',
  'mnemonic',
  'privateKey',
  'operatorToken',
  'databaseUrl',
  'raw',
  'rawTx',
  'rawApproveTx',
  'cookie',
] as const

const MASK = '[secret]'

const secret: ReadonlySet<string> = new Set(secretNames)
/** Depth to which fields are masked: as deep as we log. */
const DEPTH_MAX = 3

/**
 * Masks every secret; returns the same object if it holds no secret. Pino calls it as `formatters.log`, because pino's
 * `redact` needs a wildcard path per name and depth: measured 38 µs a line instead of 2 µs.
 */
function maskFields(fields: Record<string, unknown>, depth = 1): Record<string, unknown> {
  let masked = fields
  for (const name in fields) {
    const value = fields[name]
    const next = secret.has(name) ? MASK : isPlain(value) && depth < DEPTH_MAX ? maskFields(value, depth + 1) : value
    if (next === value) continue
    if (masked === fields) masked = { ...fields }
    masked[name] = next
  }
  return masked
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error)

/** Passwords in URLs (nodes, databases), our own API keys and the tokens of tracking pages, in any message of a library. */
const inText: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}):[^\s/@]{1,300}@/gi, `$1:${MASK}@`],
  [/\bsy_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}/g, `sy_$1_$2_${MASK}`],
  [/(\/track\/)[\w-]{43}/g, `$1${MASK}`],
]

/** The text without passwords and keys. */
export function maskText(text: string): string {
  return inText.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text)
}

/** Depth to which causes of an error are written. */
const CAUSES_MAX = 4

/** Only message, code and stack: other fields of driver errors hold queries, parameters and settings. */
function toPlain(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? maskText(error) : undefined
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined
  return {
    type: error.name,
    message: maskText(error.message),
    ...(code === undefined ? {} : { code }),
    stack: maskText(error.stack ?? ''),
    ...(error.cause === undefined || depth >= CAUSES_MAX ? {} : { cause: toPlain(error.cause, depth + 1) }),
  }
}

export type LogOptions = Readonly<{
  level: LogLevel
  /** One short line for people instead of JSON. */
  pretty: boolean
  /** Default: standard output. */
  destination?: DestinationStream
}>

/** Lines are buffered up to this many bytes, for at most `FLUSH_MS`. One write takes up to 16 KB. */
const WRITE_BYTES_MIN = 15 * 1024
const FLUSH_MS = 100
/** Lines beyond this many waiting bytes are dropped: nothing reads standard output, or its disk is full. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024

let standardOutput: ReturnType<typeof pino.destination> | null = null

/**
 * One for the process. When the process ends, after a fatal error too, pino writes the waiting lines synchronously. Only a
 * write in progress (at most 16 KB) is lost then, if standard output is read too slowly: `flushLog` waits for it.
 */
function openStandardOutput(): DestinationStream {
  standardOutput ??= survivesFailures(
    pino.destination({
      fd: 1,
      sync: false,
      minLength: WRITE_BYTES_MIN,
      maxLength: WAITING_BYTES_MAX,
      periodicFlush: FLUSH_MS,
    }),
  )
  return standardOutput
}

/**
 * Without a listener, a full disk ends the process, and its end never comes: pino repeats the last write until it succeeds.
 * The waiting lines are written later if there is space again.
 */
function survivesFailures(output: ReturnType<typeof pino.destination>): ReturnType<typeof pino.destination> {
  const flushSync = output.flushSync.bind(output)
  let isFailing = false
  output.on('error', () => {
    isFailing = true
  })
  output.on('write', () => {
    isFailing = false
  })
  output.flushSync = () => {
    if (!isFailing) flushSync()
  }
  return output
}

/** Resolves when standard output has every line. For a process that ends by `process.exit`. */
export function flushLog(): Promise<void> {
  // A pipe cannot be synced to disk: the error that says so is ignored.
  return new Promise((resolve) => (standardOutput === null ? resolve() : standardOutput.flush(() => resolve())))
}

export function createLog({ level, pretty, destination = openStandardOutput() }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => maskFields(fields) },
      serializers: { err: (error) => toPlain(error), error: (error) => toPlain(error) },
    },
    pretty ? prettify(destination) : destination,
  )
  return wrap(logger)
}

function wrap(logger: Logger): Log {
  return {
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
    // Pino applies `formatters.log` to lines, not to the fields of a child.
    child: (fields) => wrap(logger.child(maskFields({ ...fields }))),
  }
}

/** `12:30:45.123 info  payout broadcast exchangeId=… network=btc` */
function prettify(target: DestinationStream): DestinationStream {
  return {
    write(line) {
      target.write(toShortLine(line))
    },
  }
}

function toShortLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n${String(err.stack)}` : ''
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${String(msg)}${pairs.length > 0 ? ` ${pairs.join(' ')}` : ''}${stack}\n`
}
