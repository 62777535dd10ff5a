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
