import { SwapyardError } from '@swapyard/sdk'
import type { Attempt, Started } from './session.ts'
import type { Widget } from './widget.ts'

const KEY_BYTES = 16

/** `crypto.randomUUID` exists in secure contexts only. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Creates the exchange. The attempt is stored before it is sent: after a reload the same body with the same key returns the
 * same exchange, or creates it if the first request was lost.
 */
export async function startExchange({ api, session, signal, emit }: Widget, attempt: Attempt): Promise<Started> {
  session.write({ attempt })
  try {
    const { body, idempotencyKey, sentAt } = attempt
    const { id, created, trackingUrl } = await api.createExchange(body, { idempotencyKey, signal })
    const token = new URL(trackingUrl).pathname.split('/').at(-1) ?? ''
    const started = { token, startedAt: toLocalTime(created, sentAt) }
    session.write({ started })
    emit('swapyard:created', { id, trackingUrl })
    return started
  } catch (error) {
    if (isRefused(error)) session.write({})
    throw error
  }
}

/** The server's time if this device's clock agrees that it is between the request and now; else that of the request, which is earlier. */
function toLocalTime(created: string, sentAt: number): number {
  const createdAt = Date.parse(created)
  return createdAt >= sentAt && createdAt <= Date.now() ? createdAt : sentAt
}

/** Statuses that do not come from the order: the create may have succeeded in an attempt whose answer was lost. */
const UNDECIDED_STATUSES: readonly number[] = [401, 403, 408, 429]

/**
 * Whether the API refuses the order, so that nothing was created. Without an answer of the API, after an error of the server and
 * after a status that does not come from the order, that is unknown.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof SwapyardError &&
  error.apiCode !== null &&
  error.statusCode !== null &&
  error.statusCode < 500 &&
  !UNDECIDED_STATUSES.includes(error.statusCode)
