/** Time of a simulated node, so that tests decide when a checkpoint is made. */
export type Clock = Readonly<{
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` at the interval until the returned function is called. */
  every(intervalMs: number, run: () => void): () => void
}>

export const systemClock: Clock = {
  now: Date.now,
  every(intervalMs, run) {
    const timer = setInterval(run, intervalMs)
    return () => clearInterval(timer)
  },
}
