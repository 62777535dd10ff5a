import { assert } from './assert.ts'

export type BatchOptions = Readonly<{ most: number; running: number }>
type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

/**
 * Batches concurrent items: while `running` batches are in progress, further items form the next one. No timer delays an item;
 * a single item is a batch of one. `run` returns one result per item, in order.
 */
export function createBatcher<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { most, running }: BatchOptions,
): (item: T) => Promise<R> {
  const queue: Waiting<T, R>[] = []
  let active = 0
  let scheduled = false

  async function flush(): Promise<void> {
    active++
    try {
      while (queue.length > 0) await runBatch(queue.splice(0, most), run)
    } finally {
      active--
    }
  }

  function schedule(): void {
    if (scheduled || active >= running) return
    scheduled = true
    // Deferred behind the events that are ready, so that requests of one event-loop turn form one batch.
    setImmediate(() => {
      scheduled = false
      if (queue.length > 0 && active < running) void flush()
    })
  }

  return (item) =>
    new Promise<R>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      schedule()
    })
}

async function runBatch<T, R>(
  waiting: readonly Waiting<T, R>[],
  run: (items: readonly T[]) => Promise<readonly R[]>,
): Promise<void> {
  try {
    const results = await run(waiting.map(({ item }) => item))
    assert(results.length === waiting.length, 'a batch answers every item')
    waiting.forEach(({ resolve }, n) => {
      resolve(results[n] as R)
    })
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}
