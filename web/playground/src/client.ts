import { createSwapyard, SwapyardError } from '@swapyard/sdk'
import { createCallLog } from './call-log.ts'

/** Public: the sandbox listens on loopback only. */
export const API_KEY = 'sandbox'

export const callLog = createCallLog()
export const swapyard = createSwapyard({ baseUrl: location.origin, apiKey: API_KEY, fetch: callLog.fetch })

/** What the server says about a failure, for a person. */
export function explain(error: unknown): string {
  if (!(error instanceof SwapyardError)) return error instanceof Error ? error.message : String(error)
  return error.apiCode === null || error.apiCode === undefined ? error.message : `${error.apiCode}: ${error.message}`
}

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(done, ms)
    function done() {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    function stop() {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
