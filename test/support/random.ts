/** Seeded random numbers: a seed repeats the choices of a run, not their timing. */
export type Random = Readonly<{
  /** Uniform in [0, 1). */
  next(): number
  /** An integer from `least` to `below`, exclusive. */
  draw(least: number, below: number): number
  oneOf<T>(values: readonly T[]): T
}>

/** mulberry32 (Tommy Ettinger, public domain): good enough to choose among faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const draw = (least: number, below: number) => least + Math.floor(next() * (below - least))
  return {
    next,
    draw,
    oneOf(values) {
      const value = values[draw(0, values.length)]
      if (value === undefined) throw new Error('oneOf needs at least one value')
      return value
    },
  }
}
