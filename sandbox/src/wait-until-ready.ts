import { setTimeout as delay } from 'node:timers/promises'

const startTimeoutMs = 60_000

/** Calls `probe` until it succeeds, the process has exited or the time is over. */
export async function waitUntilReady(probe: () => Promise<unknown>, exitReason: Promise<string>): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    try {
      await probe()
      return
    } catch (cause) {
      const reason = await Promise.race([exitReason, delay(20, null)])
      if (reason !== null) throw new Error(`the node ${reason}`, { cause })
      if (performance.now() > deadline)
        throw new Error(`the node did not answer within ${startTimeoutMs / 1000} s`, { cause })
    }
  }
}
