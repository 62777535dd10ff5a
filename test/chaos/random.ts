/** One seed draws the same row of numbers each time: what a run does, not when the machine comes to it. */
export type Random = Readonly<{
  /** A whole number from `least` up to, and without, `below`. */
  draw(least: number, below: number): number
  oneOf<T>(things: readonly T[]): T
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
    draw,
    oneOf(things) {
      const thing = things[draw(0, things.length)]
      if (thing === undefined) throw new Error('there is nothing to choose from')
      return thing
    },
  }
}
