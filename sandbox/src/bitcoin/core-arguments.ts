/** Bitcoin Core's error codes (`src/rpc/protocol.h`). */
export const coreCode = {
  misc: -1,
  type: -3,
  notFound: -5,
  invalidParameter: -8,
  deserialization: -22,
  verify: -25,
  verifyRejected: -26,
  invalidRequest: -32600,
  methodNotFound: -32601,
  internal: -32603,
  parse: -32700,
} as const

export class CoreError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Reads the arguments of an RPC call; throws Bitcoin Core's error codes and messages. */
export type Arguments = Readonly<{
  /** Reads a hash in display order and returns it in internal order. */
  hash(index: number, name: string): string
  integer(index: number, name: string, fallback?: number): number
  flag(index: number, fallback: boolean): boolean
  text(index: number, name: string): string
  list(index: number, name: string): readonly unknown[]
  /** Reads coins per kilobyte (number or decimal string) and returns satoshis per kilobyte. */
  feeRate(index: number, fallback: number): number
  /** 0, 1 or 2, or the older true and false. */
  verbosity(index: number, fallback: number): number
}>

export function readArguments(method: string, params: readonly unknown[]): Arguments {
  const missing = (name: string) => new CoreError(coreCode.misc, `${method}: "${name}" is required`)
  const has = (index: number) => params[index] !== undefined && params[index] !== null
  const integer = (index: number, name: string, fallback?: number): number => {
    const value = params[index]
    if (!has(index)) {
      if (fallback !== undefined) return fallback
      throw missing(name)
    }
    if (!Number.isSafeInteger(value)) throw new CoreError(coreCode.misc, 'JSON value is not an integer as expected')
    return value as number
  }
  const text = (index: number, name: string): string => {
    const value = params[index]
    if (!has(index)) throw missing(name)
    if (typeof value !== 'string') throw new CoreError(coreCode.misc, 'JSON value is not a string as expected')
    return value
  }
  return {
    integer,
    text,
    hash(index, name) {
      const value = text(index, name)
      if (value.length !== 64) {
        throw new CoreError(
          coreCode.invalidParameter,
          `${name} must be of length 64 (not ${value.length}, for '${value}')`,
        )
      }
      if (!/^[0-9a-fA-F]{64}$/.test(value)) {
        throw new CoreError(coreCode.invalidParameter, `${name} must be hexadecimal string (not '${value}')`)
      }
      return Buffer.from(value, 'hex').reverse().toString('hex')
    },
    flag(index, fallback) {
      const value = params[index]
      if (!has(index)) return fallback
      if (typeof value !== 'boolean') throw new CoreError(coreCode.misc, 'JSON value is not a boolean as expected')
      return value
    },
    list(index, name) {
      const value = params[index]
      if (!has(index)) throw missing(name)
      if (!Array.isArray(value)) throw new CoreError(coreCode.type, `Expected type array, got ${typeof value}`)
      return value
    },
    feeRate(index, fallback) {
      const value = params[index]
      if (!has(index)) return fallback
      const match = /^(\d{1,8})(?:\.(\d{1,8}))?$/.exec(String(value))
      if (!match) throw new CoreError(coreCode.type, 'Invalid amount')
      return Number(`${match[1]}${(match[2] ?? '').padEnd(8, '0')}`)
    },
    verbosity(index, fallback) {
      const value = params[index]
      return typeof value === 'boolean' ? Number(value) : integer(index, 'verbosity', fallback)
    },
  }
}
