/** Null while no process listens on the port, or while the one that listens is starting. Throws any other error. */
export function nullIfNotListening(error: unknown): null {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  if (typeof code === 'string' && STARTING.has(code)) return null
  throw error
}

/** The last is cannot_connect_now of PostgreSQL. */
const STARTING = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', '57P03'])
