import { parseArgs } from 'node:util'

export class UsageError extends Error {}

const options = {
  account: { type: 'string' },
  address: { type: 'string' },
  'api-key-file': { type: 'string' },
  flow: { type: 'string' },
  hash: { type: 'string' },
  help: { type: 'boolean' },
  'idempotency-key': { type: 'string' },
  json: { type: 'boolean' },
  memo: { type: 'string' },
  'no-wait': { type: 'boolean' },
  'private-type': { type: 'string' },
  'rate-id': { type: 'string' },
  'referrer-fee': { type: 'string' },
  'refund-address': { type: 'string' },
  'refund-memo': { type: 'string' },
  slippage: { type: 'string' },
  timeout: { type: 'string' },
  url: { type: 'string' },
  version: { type: 'boolean' },
  wait: { type: 'boolean' },
} as const

const everywhere = ['api-key-file', 'help', 'json', 'timeout', 'url', 'version']
const allowed: Readonly<Record<string, readonly string[]>> = {
  quote: ['flow', 'private-type'],
  exchange: [
    ...['address', 'memo', 'refund-address', 'refund-memo'],
    ...['flow', 'private-type', 'rate-id', 'idempotency-key', 'no-wait'],
  ],
  status: ['wait'],
  swap: ['account', 'slippage', 'referrer-fee', 'hash'],
}

export type Values = ReturnType<typeof parse>['values']
export type Arguments = Readonly<{ command: string; positionals: readonly string[]; values: Values }>

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options, allowPositionals: true })

export function readArguments(args: readonly string[]): Arguments {
  const { positionals, values } = parseOrRefuse(args)
  const [command = '', ...rest] = positionals
  if (values.help || values.version) return { command, positionals: rest, values }
  const known = allowed[command]
  if (known === undefined)
    throw new UsageError(command === '' ? 'a command is missing' : `there is no command ${command}`)
  const wrong = Object.keys(values).find((name) => ![...known, ...everywhere].includes(name))
  if (wrong !== undefined) throw new UsageError(`${command} has no option --${wrong}`)
  if (values.flow !== undefined && values['private-type'] !== undefined)
    throw new UsageError('--flow and --private-type exclude each other: a private exchange is always floating')
  return { command, positionals: rest, values }
}

function parseOrRefuse(args: readonly string[]) {
  try {
    return parse(args)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The positionals, which must be as many as their names. */
export function readPositionals({ command, positionals }: Arguments, names: readonly string[]): readonly string[] {
  if (positionals.length !== names.length) throw new UsageError(`${command} needs ${names.join(' ')}`)
  return positionals
}

/** `usdt@eth` → ticker and network. */
export function readCurrency(text: string): { currency: string; network: string } {
  const [currency = '', network = '', ...rest] = text.split('@')
  if (currency === '' || network === '' || rest.length > 0)
    throw new UsageError(`${text} does not name a currency and its network, such as usdt@eth`)
  return { currency, network }
}

export function readChoice<Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === text)
  if (text !== undefined && choice === undefined) throw new UsageError(`--${name} must be ${choices.join(' or ')}`)
  return choice
}

/** Seconds as milliseconds. */
export function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError('--timeout must be a whole number of seconds')
  return Number.parseInt(text, 10) * 1_000
}
