import { expect } from 'vitest'
import { type Checkpoint, onCheckpoint } from '../../../src/core/services/checkpoint.ts'

class SimulatedCrash extends Error {}

/** Simulates a crash at the n-th pass through a checkpoint; the result says whether it happened. Uncommitted work is lost. */
export function dieAt(place: Checkpoint, nth: number): () => boolean {
  let left = nth
  onCheckpoint((name) => {
    if (name === place && left-- === 1) throw new SimulatedCrash(place)
  })
  return () => left < 1
}

/** Work that may fail only by the simulated crash. */
export const survive = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => expect(error).toBeInstanceOf(SimulatedCrash))
