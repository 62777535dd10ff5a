import { AppError } from '../core/domain/errors.ts'
import type { Partner } from '../core/domain/partner.ts'
import type { AnswerOnce, Idempotency } from '../core/services/interfaces.ts'
import type { SwapDesk } from './ports/store/swaps.ts'

/**
 * Does the work once for a key, and answers repeats as the first time. For work that may be done twice at once without harm:
 * only its answer is one. A failure is no answer.
 */
export function createAnswerOnce(desk: Pick<SwapDesk, 'findAnswer' | 'keepAnswer'>): AnswerOnce {
  return async <T extends string | readonly string[]>(
    partner: Partner,
    idempotency: Idempotency | null,
    work: () => Promise<T>,
  ) => {
    if (idempotency === null) return work()
    const { key, requestHash } = idempotency
    const found = await desk.findAnswer(partner.id, key)
    if (found !== null) return read<T>(found, requestHash)
    const answer = JSON.stringify(await work())
    return read<T>(await desk.keepAnswer(partner.id, { key, requestHash, answer }), requestHash)
  }
}

function read<T>(kept: Readonly<{ requestHash: string; answer: string | null }>, requestHash: string): T {
  if (kept.answer === null || kept.requestHash !== requestHash)
    throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key came with another body before')
  return JSON.parse(kept.answer) as T
}
