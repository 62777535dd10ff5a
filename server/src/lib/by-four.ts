/** What is kept by four keys that are compared as a Map compares them. Beyond `most` entries all are forgotten. */
export type ByFour<A, B, C, D, V> = Readonly<{
  get(a: A, b: B, c: C, d: D): V | undefined
  set(a: A, b: B, c: C, d: D, value: V): void
  clear(): void
}>

/** Maps in Maps: one text made of the four keys costs more than the four searches, as its hash is made anew each time. */
export function createByFour<A, B, C, D, V>(most: number): ByFour<A, B, C, D, V> {
  const byA = new Map<A, Map<B, Map<C, Map<D, V>>>>()
  let size = 0
  const clear = () => {
    byA.clear()
    size = 0
  }
  const get = (a: A, b: B, c: C, d: D) => byA.get(a)?.get(b)?.get(c)?.get(d)
  const set = (a: A, b: B, c: C, d: D, value: V): void => {
    const isNew = get(a, b, c, d) === undefined
    if (isNew && size >= most) clear()
    if (isNew) size += 1
    inner(inner(inner(byA, a), b), c).set(d, value)
  }
  return { get, set, clear }
}

function inner<K, L, V>(outer: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = outer.get(key)
  if (known !== undefined) return known
  const made = new Map<L, V>()
  outer.set(key, made)
  return made
}
