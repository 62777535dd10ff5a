import { expect } from 'vitest'
import { type Checkpoint, onCheckpoint } from '../../../src/core/services/checkpoint.ts'

class Death extends Error {}

/** The process dies at the n-th time that it comes to a place; says whether it did. What was not committed is gone. */
export function dieAt(place: Checkpoint, nth: number): () => boolean {
  let left = nth
  onCheckpoint((name) => {
    if (name === place && left-- === 1) throw new Death(place)
  })
  return () => left < 1
}

/** Work that death may end, and nothing else. */
export const survive = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => expect(error).toBeInstanceOf(Death))
