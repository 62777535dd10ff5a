/** A violated assumption of our own code. Caught only at the top of a request or a step, where it is logged and counted. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Throws if the condition is false. A failure is a bug, never a consequence of input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Marks a branch that the types exclude. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}

/** The value, which the caller knows to be present. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantError(`${what} is missing`)
  return value
}
