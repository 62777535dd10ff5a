const startTimeoutMs = 60_000

/** Calls `probe` until it succeeds, the process has exited or the time is over. */
export async function waitUntilReady(probe: () => Promise<unknown>, exitReason: () => string | null): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    try {
      await probe()
      return
    } catch (cause) {
      const reason = exitReason()
      if (reason !== null) throw new Error(`the node ${reason}`, { cause })
      if (performance.now() > deadline)
        throw new Error(`the node did not answer within ${startTimeoutMs / 1000} s`, { cause })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
