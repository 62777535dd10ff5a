import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'
import { toIsoText } from './time.ts'

export type LogLevel = LevelWithSilent

/** Object first, constant message after it. `error` = a person must look; `warn` = watch the rate; `info` = a fact; `debug` = protocol detail. */
export type Log = Readonly<{
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  /** `info` for lines that come by the thousand and differ in few fields: those that stay are rendered once, behind the others. */
  recurring(fixed: object, message: string): (fields: object) => void
  /** The same log with fields in every line, for example `{ component: 'watcher', network }`. */
  child(fields: object): Log
}>

/** Names under which secrets and signed transactions travel. Masked at any of the three upper depths, in any line. */
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
/** Fields of a line, and of objects in it: as deep as we log. */
const DEPTH_MAX = 3

/**
 * The fields with every secret masked; the same object where there is none. Pino's own redaction by paths costs twenty
 * times as much, because every name is looked for at every depth of every line.
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

/** Passwords in URLs (nodes, databases) and our own keys, wherever a library put them into a message. */
const inText: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}):[^\s/@]{1,300}@/gi, `$1:${MASK}@`],
  [/\bsy_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}/g, `sy_$1_$2_${MASK}`],
]

/** The text without passwords and keys. */
export function maskText(text: string): string {
  return inText.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text)
}

/** Depth to which causes of an error are written. */
const CAUSES_MAX = 4

/** Message, code and stack: not the other fields, which in drivers' errors hold queries, parameters and configurations. */
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
  /** Standard output where it is absent. */
  destination?: DestinationStream
}>

/** Lines are written together: one write each costs more than the line. Who exits writes the rest; who is killed loses it. */
const LINES_BYTES = 256 * 1024
const LINES_MS = 100
/** UTF-8 of a UTF-16 unit. */
const BYTES_A_UNIT = 3

/**
 * Standard output, many lines at a time. They become bytes at once: text that is gathered instead is moved about by the
 * collector until it is written, and then put together, which costs as much as making it.
 */
function gatherLines(): DestinationStream {
  let lines: Buffer = Buffer.allocUnsafe(LINES_BYTES)
  let used = 0
  let timer: NodeJS.Timeout | null = null
  // Two in turn: of a new one each time the collector would know only what is outside its heap, and look at all of it.
  let spare: Buffer | null = null
  let leaving: Buffer | null = null
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (used === 0) return
    writeBytes(lines.subarray(0, used))
    leaving = lines
    lines = spare ?? Buffer.allocUnsafe(LINES_BYTES)
    spare = null
    used = 0
  }
  // Before the destination's own, which write what it was given.
  process.on('beforeExit', flush)
  process.on('exit', flush)
  const target = pino.destination({ fd: 1, sync: false, contentMode: 'buffer' })
  // All is written: nobody reads any of them any more.
  target.on('drain', () => {
    spare ??= leaving
    leaving = null
  })
  // Its types know of text alone.
  const writeBytes = (bytes: Buffer): void => void target.write(bytes as unknown as string)
  return {
    write(line) {
      if (line.length * BYTES_A_UNIT > lines.length - used) flush()
      if (line.length * BYTES_A_UNIT > lines.length) return writeBytes(Buffer.from(line))
      used += lines.write(line, used)
      timer ??= setTimeout(flush, LINES_MS).unref()
    },
  }
}

export function createLog({ level, pretty, destination }: LogOptions): Log {
  const plain = destination ?? gatherLines()
  const target = pretty ? prettify(plain) : plain
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${toIsoText(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => maskFields(fields) },
      serializers: { err: (error) => toPlain(error), error: (error) => toPlain(error) },
    },
    target,
  )
  const log = wrap(logger)
  if (!logger.isLevelEnabled('info')) return log
  return {
    ...log,
    info: (fields, message) => {
      const members = renderMembers(fields)
      if (members === null) logger.info(fields, message)
      else target.write(`${lineStart()}${members}${lineEnd(message)}`)
    },
    recurring: (fixed, message) => {
      const staying = renderMembers(fixed)
      const end = `${staying}${lineEnd(message)}`
      return (fields) => {
        const members = renderMembers(fields)
        if (members === null || staying === null) logger.info({ ...fields, ...fixed }, message)
        else target.write(`${lineStart()}${members}${end}`)
      }
    },
  }
}

/** Needs no escape in JSON. */
const PLAIN = /^[\w ./:@+-]*$/

const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** What stands before a member's value; `open` = with the quote of a text that needs no escape. */
type Member = Readonly<{ head: string; open: string; isSecret: boolean }>

/** By their names, which come from code: there are some hundreds. */
const members = new Map<string, Member>()
const MEMBERS_MAX = 2_000

function addMember(name: string): Member {
  const head = `,${quote(name)}:`
  const member = { head, open: `${head}"`, isSecret: secret.has(name) }
  if (members.size < MEMBERS_MAX) members.set(name, member)
  return member
}

/* The line that pino would write, in a third of its time: there is one of it for every request. */
const lineStart = (): string => `{"level":"info","time":"${toIsoText(Date.now())}"`
const lineEnd = (message: string): string => `,"msg":${quote(message)}}\n`

/** Null where a field is more than a text, a number or a truth value. */
function renderMembers(given: object): string | null {
  const fields = given as Record<string, unknown>
  let text = ''
  for (const name in fields) {
    const { head, open, isSecret } = members.get(name) ?? addMember(name)
    const value: unknown = isSecret ? MASK : fields[name]
    if (value === undefined) continue
    if (typeof value === 'string') text += PLAIN.test(value) ? `${open}${value}"` : head + JSON.stringify(value)
    else if (typeof value === 'boolean' || Number.isFinite(value)) text += head + value
    else return null
  }
  return text
}

function wrap(logger: Logger): Log {
  return {
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
    recurring: (fixed, message) => (fields) => logger.info({ ...fields, ...fixed }, message),
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
