import { expect } from 'vitest'
import { type Checkpoint, onCheckpoint } from '../../../src/core/services/checkpoint.ts'

class SimulatedCrash extends Error {}

/** Throws at the n-th pass through a checkpoint; uncommitted work is lost. The result tells whether the crash happened. */
export function crashAt(checkpoint: Checkpoint, nth: number): () => boolean {
  let left = nth
  onCheckpoint((name) => {
    if (name === checkpoint && left-- === 1) throw new SimulatedCrash(checkpoint)
  })
  return () => left < 1
}

/** Waits for the work. Any error other than the simulated crash fails the test. */
export const ignoreSimulatedCrash = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => expect(error).toBeInstanceOf(SimulatedCrash))
