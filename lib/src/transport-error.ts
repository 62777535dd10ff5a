/** Why a request got no answer: `timeout`, the code of the error, or `no answer`. Never its text, which may contain a URL. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof Error && cause.name === 'TimeoutError') return 'timeout'
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  return typeof code === 'string' ? code : 'no answer'
}
