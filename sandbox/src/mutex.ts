export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Runs one task at a time, in call order. */
export function createMutex(): Mutex {
  let tail: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = tail.then(work)
    tail = result.catch(() => undefined)
    return result
  }
}
