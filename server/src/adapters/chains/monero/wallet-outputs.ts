import { AppError } from '../../../core/domain/errors.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { subaddressOf } from './keys.ts'
import type { OutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'

/** The wallet's unspent outputs by key image, compared with the outputs that the store has recorded. */
export type WalletOutputs = Readonly<{
  /** Reads the outputs. Records the given ones that the wallet lacks, for the next `repair`. */
  read(wallet: Wallet, recorded: readonly RecordedUtxo[]): Promise<ReadonlyMap<string, WalletOutput>>
  /**
   * Work that is too slow for a database transaction: extends the wallet's lookahead, adds missing outputs and freezes new
   * ones. Scans the transactions of missing outputs. Rescans the chain for those of unknown transactions, once per output:
   * what the wallet does not find in a transaction, it does not find in the chain either.
   */
  repair(wallet: Wallet): Promise<ReadonlyMap<string, WalletOutput>>
  /** Whether the wallet has scanned the transaction of this deposit, and does not hold its output. */
  isUnreadable(identity: string): boolean
}>

/** Transactions that are scanned one by one in one repair, if the wallet rejects them together. */
const SCANS_MAX = 50

type Origin = Readonly<{ txHash: string | null; identity: string | null }>

/** `origins`: the transactions of our outputs, as far as this process has scanned them. */
export function createWalletOutputs(origins: OutputOrigins): WalletOutputs {
  let highestIndex = 0
  const missing = new Map<string, Origin>()
  /** A scan did not find them. */
  const unfindable = new Map<string, Origin>()
  return {
    read: async (wallet, recorded) => {
      const outputs = await wallet.outputs()
      for (const { outpoint, path, deposit } of recorded) {
        highestIndex = Math.max(highestIndex, subaddressOf(path).index)
        const { txHash = origins.txHashOf(outpoint), identity = null } = deposit ?? {}
        if (outputs.has(outpoint)) unfindable.delete(outpoint)
        else if (deposit || !missing.has(outpoint)) missing.set(outpoint, { txHash, identity })
      }
      return outputs
    },
    repair: async (wallet) => {
      await wallet.extendLookahead(Math.max(highestIndex, origins.highestIndex()))
      let outputs = await wallet.outputs('slow')
      const listMissing = () => [...missing].filter(([image]) => !outputs.has(image) && !unfindable.has(image))
      const txHashes = new Set(listMissing().flatMap(([, { txHash }]) => txHash ?? []))
      const scanned = await scanTransactions(wallet, [...txHashes])
      if (scanned.size > 0) outputs = await wallet.outputs('slow')
      for (const [image, origin] of listMissing())
        if (origin.txHash !== null && scanned.has(origin.txHash)) unfindable.set(image, origin)
      if (listMissing().some(([, { txHash }]) => txHash === null)) {
        await wallet.rescan()
        outputs = await wallet.outputs('slow')
        for (const [image, origin] of listMissing()) if (origin.txHash === null) unfindable.set(image, origin)
      }
      missing.clear()
      for (const [image, { frozen }] of outputs) if (!frozen) await wallet.setFrozen(image, true)
      return outputs
    },
    isUnreadable: (identity) => [...unfindable.values()].some((origin) => origin.identity === identity),
  }
}

/** The transactions that were scanned. The wallet rejects the whole list if one has been orphaned meanwhile. */
async function scanTransactions(wallet: Wallet, txHashes: readonly string[]): Promise<ReadonlySet<string>> {
  const scan = (some: readonly string[]) => wallet.scan(some).then(() => true, falseIfAppError)
  if (txHashes.length === 0 || (await scan(txHashes))) return new Set(txHashes)
  const scanned = new Set<string>()
  for (const txHash of txHashes.length > 1 ? txHashes.slice(0, SCANS_MAX) : [])
    if (await scan([txHash])) scanned.add(txHash)
  return scanned
}

function falseIfAppError(error: unknown): boolean {
  if (error instanceof AppError) return false
  throw error
}
