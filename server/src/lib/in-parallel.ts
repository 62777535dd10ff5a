/**
 * Does the work for every item, at most `most` at once. After a failure nothing new is begun; what runs is waited for,
 * and the first error is thrown.
 */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values()
  const errors: unknown[] = []
  async function run(): Promise<void> {
    for (const item of waiting) {
      try {
        await work(item)
      } catch (error) {
        errors.push(error)
      }
      if (errors.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, run))
  if (errors.length > 0) throw errors[0]
}
