import { Worker } from 'node:worker_threads'
import type { ChildKeysRequest, ChildKeysResponse } from './child-key-thread.ts'
import type { Parent } from './child-keys.ts'

/** Derives uncompressed public keys outside of the thread that serves requests. */
export type KeyThread = { derive(parent: Parent, indexes: readonly number[]): Promise<readonly Uint8Array[]> }

type Waiting = Readonly<{ resolve(keys: readonly Uint8Array[]): void; reject(error: Error): void }>

/** One thread, started by the first request and again after a failure. It does not keep the process running. */
export function createKeyThread(): KeyThread {
  let worker: Worker | null = null
  let requests = 0
  const waiting = new Map<number, Waiting>()

  function start(): Worker {
    const started = new Worker(new URL('./child-key-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 },
    })
    started.unref()
    started.on('message', ({ id, keys }: ChildKeysResponse) => {
      waiting.get(id)?.resolve(keys)
      waiting.delete(id)
    })
    const end = (error: Error) => {
      if (worker !== started) return
      worker = null
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    started.on('error', (error) => end(error instanceof Error ? error : new Error(String(error))))
    started.on('exit', () => end(new Error('the thread that derives keys has ended')))
    return started
  }

  return {
    derive: (parent, indexes) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        const id = requests++
        waiting.set(id, { resolve, reject })
        worker.postMessage({ id, parent, indexes } satisfies ChildKeysRequest)
      }),
  }
}
