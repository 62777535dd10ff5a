import { AppError } from '../../../core/domain/errors.ts'
import type { Utxo } from '../../../exchange/ports/spend.ts'
import { subaddressOf } from './keys.ts'
import type { OutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'

/** The wallet's unspent outputs by key image, compared with the outputs that the store has recorded. */
export type WalletOutputs = Readonly<{
  /** Reads the outputs. Records the given ones that the wallet lacks, for the next `repair`. */
  read(wallet: Wallet, recorded: readonly Utxo[]): Promise<ReadonlyMap<string, WalletOutput>>
  /**
   * Work that is too slow for a database transaction: extends the wallet's lookahead, adds missing outputs and freezes new
   * ones. Scans the transactions of missing outputs if recorded; rescans the chain for the rest, once per output.
   */
  repair(wallet: Wallet): Promise<ReadonlyMap<string, WalletOutput>>
}>

/** `origins`: the transactions of our outputs, as far as this process has scanned them. */
export function createWalletOutputs(origins: OutputOrigins): WalletOutputs {
  let highestIndex = 0
  const missing = new Set<string>()
  /** A rescan did not find them. */
  const unfindable = new Set<string>()
  return {
    read: async (wallet, recorded) => {
      const outputs = await wallet.outputs()
      for (const { outpoint, path } of recorded) {
        highestIndex = Math.max(highestIndex, subaddressOf(path).index)
        if (!outputs.has(outpoint)) missing.add(outpoint)
      }
      return outputs
    },
    repair: async (wallet) => {
      await wallet.extendLookahead(Math.max(highestIndex, origins.highestIndex()))
      let outputs = await wallet.outputs('slow')
      const listMissing = () => [...missing].filter((keyImage) => !outputs.has(keyImage) && !unfindable.has(keyImage))
      const txHashes = new Set(listMissing().flatMap((keyImage) => origins.txHashOf(keyImage) ?? []))
      // The wallet rejects the whole list if one transaction has been orphaned meanwhile.
      const isScanned = txHashes.size > 0 && (await wallet.scan([...txHashes]).then(() => true, falseIfAppError))
      if (isScanned) outputs = await wallet.outputs('slow')
      if (listMissing().length > 0) {
        await wallet.rescan()
        outputs = await wallet.outputs('slow')
        for (const keyImage of missing) if (!outputs.has(keyImage)) unfindable.add(keyImage)
      }
      missing.clear()
      for (const [keyImage, { frozen }] of outputs) if (!frozen) await wallet.setFrozen(keyImage, true)
      return outputs
    },
  }
}

function falseIfAppError(error: unknown): boolean {
  if (error instanceof AppError) return false
  throw error
}
