import { unavailable } from './nodes.ts'

/** Throws if the slot has not increased for so long: the cluster, or the node that replies, has stopped. */
export function createSlotProgress(network: string, stoppedMs: number, now: () => number): (slot: number) => void {
  let newest = { slot: -1, atMs: 0 }
  return (slot) => {
    if (slot > newest.slot) newest = { slot, atMs: now() }
    const ageMs = now() - newest.atMs
    if (ageMs > stoppedMs) throw unavailable(network, `the slot is ${slot} for ${Math.round(ageMs / 1000)} s`)
  }
}
