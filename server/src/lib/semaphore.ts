/** Lets so many pieces of work run at once; the others wait their turn, in order. */
export type Gate = <R>(work: () => Promise<R>) => Promise<R>

export function createGate(most: number): Gate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // The place goes from one to the next.
      if (next === undefined) running--
      else next()
    }
  }
}
