export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>

/** One at a time, in order of arrival. */
export function createMutex(): Mutex {
  let tail: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = tail.then(work)
    tail = result.catch(() => undefined)
    return result
  }
}
