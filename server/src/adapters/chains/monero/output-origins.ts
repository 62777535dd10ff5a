/** The transactions of our received outputs, and the highest paid subaddress index, to repair a wallet that missed them. */
export type OutputOrigins = Readonly<{
  record(keyImage: string, txHash: string, index: number): void
  txHashOf(keyImage: string): string | null
  highestIndex(): number
}>

/** Outputs in the cache. For an older one that the wallet lacks, it rescans the chain. */
const OUTPUTS_MAX = 10_000

export function createOutputOrigins(): OutputOrigins {
  const hashes = new Map<string, string>()
  let highestIndex = 0
  return {
    record: (keyImage, txHash, index) => {
      hashes.set(keyImage, txHash)
      highestIndex = Math.max(highestIndex, index)
      const [oldest] = hashes.keys()
      if (hashes.size > OUTPUTS_MAX && oldest !== undefined) hashes.delete(oldest)
    },
    txHashOf: (keyImage) => hashes.get(keyImage) ?? null,
    highestIndex: () => highestIndex,
  }
}
