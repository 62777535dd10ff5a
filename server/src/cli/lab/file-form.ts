import { CommandError, fail } from '../print.ts'

/** The name of a required member, or the names of alternatives. */
export type Member = string | readonly string[]

/** Ends the command with a sentence if a value of the file lacks a member. */
export function requireMembers(value: unknown, path: string, members: readonly Member[]): void {
  if (typeof value !== 'object' || value === null) fail(`${path} is not an object`)
  const has = (name: string) => ((value as Readonly<Record<string, unknown>>)[name] ?? null) !== null
  for (const member of members) {
    const names = typeof member === 'string' ? [member] : member
    if (!names.some(has)) fail(`${path} has no member ${names.join(' or ')}`)
  }
}

/** A list of the file. */
export function requireList<T>(value: readonly T[] | undefined, path: string): readonly T[] {
  return Array.isArray(value) ? value : fail(`${path} is not a list`)
}

/** Reads a part of the file; a value that cannot be read ends the command with a sentence that names the part. */
export function readPart<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof CommandError) throw error
    return fail(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}
