import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../domain/errors.ts'
import type { ClaimedResponse, IdempotencyClaim, IdempotencyStore, StoredResponse } from '../ports/store/idempotency.ts'
import type { WithIdempotency } from './interfaces.ts'

/** Time until a repeat acts in place of a process that crashed. An attempt renews its lease while it runs. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** As long as a create of an exchange waits for another one with its key, by the lock timeout of the database. */
const WAIT_MS = 5_000
const POLL_MS = 100

/**
 * Lets one request per key act at a time, in all processes, and returns its response to the others. Errors are not stored. After a
 * crash between an act and its response a repeat acts again: an act whose repeat would change something stores its response by `keep`.
 */
export function createWithIdempotency(store: IdempotencyStore, waitMs = WAIT_MS): WithIdempotency {
  return async (partner, idempotency, work) => {
    if (idempotency === null) return work(() => null)
    const { key, requestHash } = idempotency
    const claim = { partnerId: partner.id, key, id: randomUUID() }
    const stored = await claimOrFind(store, claim, requestHash, waitMs)
    if (stored !== null) return JSON.parse(responseOf(stored, requestHash))
    const keep = (made: unknown): ClaimedResponse => ({ claim, response: JSON.stringify(made) })
    const renewal = setInterval(() => void store.renew(claim, LEASE_MS).catch(() => undefined), RENEW_MS)
    try {
      const made = await work(keep).catch(async (error: unknown) => {
        // If this fails, too, the lease ends.
        await store.release(claim).catch(() => undefined)
        throw error
      })
      const saved = await store.save(keep(made))
      if (saved === null) throw stillRunning()
      return JSON.parse(saved)
    } finally {
      clearInterval(renewal)
    }
  }
}

/** Null if the key is claimed. Waits while another attempt has it. */
async function claimOrFind(
  store: IdempotencyStore,
  claim: IdempotencyClaim,
  requestHash: string,
  waitMs: number,
): Promise<StoredResponse | null> {
  const until = performance.now() + waitMs
  for (;;) {
    const outcome = await store.claim(claim, requestHash, LEASE_MS)
    if (outcome === 'claimed') return null
    if (outcome !== 'held') return outcome
    if (performance.now() >= until) throw stillRunning()
    await sleep(POLL_MS)
  }
}

function responseOf(stored: StoredResponse, requestHash: string): string {
  if (stored.response === null || stored.requestHash !== requestHash)
    throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was already used with another request')
  return stored.response
}

const stillRunning = () =>
  new AppError('OVERLOADED', 'a request with this Idempotency-Key is still running: send it again', {
    retryAfterSeconds: 2,
  })
