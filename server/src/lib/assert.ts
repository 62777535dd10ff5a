/** A broken promise inside our own code. Caught only at the top of a request or a step, where it is logged and counted. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** States what must be true here. A failure is a bug, never a consequence of input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Marks a branch that the types say cannot be reached. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}

/** The value, which the caller knows to be there. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantError(`${what} is missing`)
  return value
}
