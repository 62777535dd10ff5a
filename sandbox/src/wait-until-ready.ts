const startTimeoutMs = 60_000

/** Asks until there is an answer, or the process has ended. */
export async function waitUntilReady(ask: () => Promise<unknown>, ended: () => string | null): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    try {
      await ask()
      return
    } catch (cause) {
      const why = ended()
      if (why !== null) throw new Error(`the node ${why}`, { cause })
      if (performance.now() > deadline) throw new Error('the node did not come up in time', { cause })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
