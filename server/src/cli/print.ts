import { InvalidArgumentError } from 'commander'

/** One JSON line: read by people and by programs alike. */
export function print(value: unknown): void {
  console.log(
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)),
  )
}

/** Ends the command with a sentence that says what was wrong. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export function fail(message: string): never {
  throw new CommandError(message)
}

export function integer(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return Number(text)
}

/** A whole number within the bounds of its column: what is beyond them is refused in words, not by the database. */
export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const given = integer(text)
    if (given < least || given > most) throw new InvalidArgumentError(`it is from ${least} to ${most}`)
    return given
  }
}
