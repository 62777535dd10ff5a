import { AppError } from '../core/domain/errors.ts'
import type { Partner } from '../core/domain/partner.ts'
import type { Idempotency, WithIdempotency } from '../core/services/interfaces.ts'
import type { SwapIdempotencyStore } from './ports/store/idempotency.ts'

/**
 * Stores the first successful response per key and returns it for repeats. Concurrent calls with the same key may both run;
 * only one response is stored. Errors are not stored.
 */
export function createWithIdempotency(store: SwapIdempotencyStore): WithIdempotency {
  return async <T extends string | readonly string[]>(
    partner: Partner,
    idempotency: Idempotency | null,
    work: () => Promise<T>,
  ) => {
    if (idempotency === null) return work()
    const { key, requestHash } = idempotency
    const stored = await store.findResponse(partner.id, key)
    if (stored !== null) return readResponse<T>(stored, requestHash)
    const response = JSON.stringify(await work())
    return readResponse<T>(await store.saveResponse(partner.id, key, { requestHash, response }), requestHash)
  }
}

function readResponse<T>(stored: Readonly<{ requestHash: string; response: string | null }>, requestHash: string): T {
  if (stored.response === null || stored.requestHash !== requestHash)
    throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was already used with another request')
  return JSON.parse(stored.response) as T
}
