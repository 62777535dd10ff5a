/** By which transaction each coin of ours came, and how high an index was paid: what a wallet is told that missed it. */
export type OutputOrigins = Readonly<{
  record(keyImage: string, txHash: string, index: number): void
  txHashOf(keyImage: string): string | null
  highestIndex(): number
}>

/** Coins of many blocks. Of older ones the wallet knows, or it reads the chain again. */
const REMEMBERED_MAX = 10_000

export function createOutputOrigins(): OutputOrigins {
  const hashes = new Map<string, string>()
  let highest = 0
  return {
    note: (keyImage, txHash, index) => {
      hashes.set(keyImage, txHash)
      highest = Math.max(highest, index)
      const [oldest] = hashes.keys()
      if (hashes.size > REMEMBERED_MAX && oldest !== undefined) hashes.delete(oldest)
    },
    of: (keyImage) => hashes.get(keyImage) ?? null,
    highest: () => highest,
  }
}
