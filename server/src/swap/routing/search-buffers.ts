/**
 * Buffers that all calls of one search share, because allocation costs more than a search. They grow with the largest market; calls
 * must not overlap.
 */
export function keepBuffers<Buffers>(
  create: (tokenCount: number, hopsMax: number) => Buffers,
): (tokenCount: number, hopsMax: number) => Buffers {
  let tokens = 1024
  let hops = 4
  let buffers = create(tokens, hops)
  return (tokenCount, hopsMax) => {
    if (tokenCount <= tokens && hopsMax <= hops) return buffers
    if (tokenCount > tokens) tokens = 2 * tokenCount
    hops = Math.max(hops, hopsMax)
    buffers = create(tokens, hops)
    return buffers
  }
}
