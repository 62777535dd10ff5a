import { AppError } from '../../../core/domain/errors.ts'

type Entry = Readonly<Record<string, unknown>>

const HASH = /^[0-9a-f]{64}$/
const HEX = /^(?:[0-9a-f]{2})*$/

/** For a reply of unknown form: handled like no answer, so that no decision depends on it. */
export function malformed(what: string): AppError {
  const error = new AppError('NETWORK_UNAVAILABLE', 'a node of the network gives no usable answers', {
    cause: new Error(`malformed ${what} in a reply`),
  })
  malformedReplies.add(error)
  return error
}

const malformedReplies = new WeakSet<Error>()

/** The node answered, and the reply has an unknown form: the same request fails again. */
export const isMalformed = (error: unknown): boolean => error instanceof Error && malformedReplies.has(error)

export const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isHex = (value: unknown): value is string => typeof value === 'string' && HEX.test(value)

export function readEntry(value: unknown): Entry {
  if (!isEntry(value)) throw malformed('object')
  return value
}

export function readInteger(value: unknown, min = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) throw malformed('integer')
  return value
}

export function readHash(value: unknown): string {
  if (typeof value !== 'string' || !HASH.test(value)) throw malformed('hash')
  return value
}
