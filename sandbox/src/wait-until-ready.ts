const startTimeoutMs = 60_000

/** Asks until there is an answer, or the process has ended. */
export async function waitUntilReady(probe: () => Promise<unknown>, exitReason: () => string | null): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    try {
      await probe()
      return
    } catch (cause) {
      const reason = exitReason()
      if (reason !== null) throw new Error(`the node ${reason}`, { cause })
      if (performance.now() > deadline) throw new Error('the node did not come up in time', { cause })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
