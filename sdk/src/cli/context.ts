import type { Swapyard } from '../client.ts'
import type { ClientErrorCode, SwapyardError } from '../errors.ts'
import type { Arguments } from './arguments.ts'

/** What a command works with. */
export type Context = Readonly<{
  swapyard: Swapyard
  args: Arguments
  timeoutMs: number | undefined
  /** A line of progress, to stderr. */
  progress(line: string): void
  /** The result, to stdout: with `--json` the value, otherwise the lines. */
  result(value: unknown, lines: readonly string[]): void
}>

/** Exit codes, as the usage lists them. */
export const exitCodes = {
  done: 0,
  defect: 1,
  usage: 2,
  refused: 3,
  failed: 4,
  timeout: 5,
  noAnswer: 6,
} as const

const codesWithoutAnswer: readonly string[] = [
  'CONNECTION_FAILED',
  'TIMEOUT',
  'INVALID_RESPONSE',
] satisfies ClientErrorCode[]

/** The server may have done what the request says. */
export const isResultUnknown = ({ code, statusCode }: SwapyardError): boolean =>
  codesWithoutAnswer.includes(code) || statusCode === 408 || (statusCode ?? 0) >= 500

export const timeOfDay = (): string => new Date().toISOString().slice(11, 19)
