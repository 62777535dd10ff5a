import pino from 'pino'

/** Object first, then a constant message in the past tense. Levels: error = a person must look, warn = heals itself. */
export type Log = pino.Logger

export type LogOptions = Readonly<{ level: string; destination?: pino.DestinationStream }>

/** Names whose values never appear in a line, however deep (one level of nesting is what we log). */
const secret = ['apiKey', 'x-api-key', 'passphrase', 'privateKey', 'raw', 'rawTx', 'seed', 'secret', 'authorization', 'pepper', 'password']

export function createLog({ level, destination }: LogOptions): Log {
  const paths = secret.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
  const options: pino.LoggerOptions = { level, base: null, redact: { paths, censor: '[redacted]' }, timestamp: pino.stdTimeFunctions.isoTime }
  return destination ? pino(options, destination) : pino(options)
}
