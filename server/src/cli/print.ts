import { InvalidArgumentError } from 'commander'

/** Prints one JSON line, for people and for scripts. */
export function print(value: unknown): void {
  console.log(
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)),
  )
}

/** Ends the command with its message and exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export function fail(message: string): never {
  throw new CommandError(message)
}

export function integer(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number')
  return Number(text)
}

/** A whole number within the bounds of its database column. */
export function integerBetween(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = integer(text)
    if (value < minimum || value > maximum) throw new InvalidArgumentError(`must be from ${minimum} to ${maximum}`)
    return value
  }
}
