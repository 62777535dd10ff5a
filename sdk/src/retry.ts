import { SwapyardError } from './errors.ts'

const FIRST_DELAY_MS = 250
const DELAY_MAX_MS = 8_000
/** "Not implemented" and "HTTP version not supported" do not pass. Proxies have codes of their own above 511. */
const LASTING_STATUSES: readonly number[] = [501, 505]

const isTemporaryStatus = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && !LASTING_STATUSES.includes(status))

/** Whether a repeat of the same request can succeed without a change of it. */
export function isTemporary(error: unknown): error is SwapyardError {
  if (!(error instanceof SwapyardError)) return false
  const { code, statusCode, retryAfterMs } = error
  return (
    code === 'CONNECTION_FAILED' ||
    code === 'TIMEOUT' ||
    isTemporaryStatus(statusCode ?? 0) ||
    // For example NO_ROUTE while the pools of a new token are being read.
    retryAfterMs !== null
  )
}

/** `Retry-After`, else a random delay that doubles with each attempt. */
export function readDelay({ retryAfterMs }: SwapyardError, attempt: number): number {
  return retryAfterMs ?? Math.min(FIRST_DELAY_MS * 2 ** attempt, DELAY_MAX_MS) * (0.5 + Math.random() / 2)
}

/** Milliseconds of a `Retry-After`: seconds or a date. */
export function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number.parseInt(header, 10) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(at - Date.now(), 0)
}
