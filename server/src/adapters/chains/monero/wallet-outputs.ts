import { AppError } from '../../../core/domain/errors.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { subaddressOf } from './keys.ts'
import type { OutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'

/**
 * The wallet's unspent outputs by key image, compared with the outputs that the store has recorded.
 *
 * A scan of one transaction can break the wallet's view (wallet2::scan_tx of monerod 0.18): if the wallet has not reached the
 * block yet and a reorganisation removes it, the wallet keeps the outputs of the transaction with their old place, and keeps
 * its inputs as spent. Later blocks do not correct that, so `repair` does.
 */
export type WalletOutputs = Readonly<{
  /** Reads the outputs. Records the given ones that the wallet lacks or has in another block, for the next `repair`. */
  read(wallet: Wallet, recorded: readonly RecordedUtxo[]): Promise<ReadonlyMap<string, WalletOutput>>
  /** Whether the last reads found something that a repair may correct now. */
  isRepairDue(): boolean
  /**
   * Work that is too slow for a database transaction: extends the wallet's lookahead, adds missing outputs and freezes new
   * ones. Scans the transactions of missing outputs, later again if a scan does not find them: the transaction may have been
   * in no block. Rescans the chain for outputs of unknown transactions, once per output, and for outputs in a wrong block.
   */
  repair(wallet: Wallet): Promise<ReadonlyMap<string, WalletOutput>>
  /** Whether the wallet has scanned the transaction of this deposit, and does not hold its output. */
  isUnreadable(identity: string): boolean
  /** Whether the wallet has the output in another block than the store. It cannot spend it then. */
  isMisplaced(keyImage: string): boolean
}>

/** Transactions that are scanned one by one in one repair, if the wallet rejects them together. */
const SCANS_MAX = 50
/** Time until a transaction is scanned again, doubled each time. Anyone can send outputs that the wallet does not find. */
const SCAN_AGAIN_MS = { min: 10_000, max: 3_600_000 } as const

/** `index`: of the subaddress. */
type Origin = Readonly<{ txHash: string | null; identity: string | null; index: number }>
/** `againAt`: time of the next scan; Infinity = never. `isRescanned`: a rescan did not find it either. */
type Unfound = Readonly<{ origin: Origin; waitMs: number; againAt: number; isRescanned: boolean }>
/** Heights of the block of one output, in the wallet and in the store. `reads`: in a row that found the same two heights. */
type Misplaced = Readonly<{ heights: readonly [number, number]; reads: number; isRescanned: boolean }>

/** `origins`: the transactions of our outputs, as far as this process has scanned them. `now`: monotonic, in ms. */
export function createWalletOutputs(
  origins: OutputOrigins,
  now: () => number = () => performance.now(),
): WalletOutputs {
  let highestIndex = 0
  const missing = new Map<string, Origin>()
  const unfound = new Map<string, Unfound>()
  const places = createPlaces()
  const isDue = (image: string) => now() >= (unfound.get(image)?.againAt ?? 0)
  const noteUnfound = (image: string, origin: Origin, isRescan: boolean) => {
    const before = unfound.get(image) ?? { waitMs: SCAN_AGAIN_MS.min / 2, isRescanned: false }
    const waitMs = Math.min(before.waitMs * 2, SCAN_AGAIN_MS.max)
    const againAt = origin.txHash === null ? Infinity : now() + waitMs
    unfound.set(image, { origin, waitMs, againAt, isRescanned: before.isRescanned || isRescan })
  }
  return {
    read: async (wallet, recorded) => {
      const outputs = await wallet.outputs()
      for (const utxo of recorded) {
        const { outpoint, path, deposit } = utxo
        const { index } = subaddressOf(path)
        const output = outputs.get(outpoint)
        highestIndex = Math.max(highestIndex, index)
        places.note(utxo, output)
        const { txHash = origins.txHashOf(outpoint), identity = null } = deposit ?? {}
        if (output) unfound.delete(outpoint)
        else if (deposit || !missing.has(outpoint)) missing.set(outpoint, { txHash, identity, index })
      }
      return outputs
    },
    isRepairDue: () => places.isRescanDue() || [...missing.keys()].some(isDue),
    repair: async (wallet) => {
      await wallet.extendLookahead(Math.max(highestIndex, origins.highestIndex()))
      let outputs = await wallet.outputs('slow')
      const listMissing = () => [...missing].filter(([image]) => !outputs.has(image) && isDue(image))
      const scanned = await scanTransactions(wallet, listMissing())
      if (scanned.size > 0) outputs = await wallet.outputs('slow')
      const afterScan = listMissing().filter(([, { txHash }]) => txHash === null || scanned.has(txHash))
      const notRescanned = afterScan.filter(([image]) => unfound.get(image)?.isRescanned !== true)
      const isRescan = places.isRescanDue() || (await areInChain(wallet, notRescanned))
      if (isRescan) {
        await wallet.rescan()
        places.noteRescan()
        outputs = await wallet.outputs('slow')
      }
      for (const [image, origin] of afterScan) if (!outputs.has(image)) noteUnfound(image, origin, isRescan)
      missing.clear()
      for (const [image, { frozen }] of outputs) if (!frozen) await wallet.setFrozen(image, true)
      return outputs
    },
    isUnreadable: (identity) => [...unfound.values()].some(({ origin }) => origin.identity === identity),
    isMisplaced: places.has,
  }
}

/**
 * Whether a rescan finds one of the outputs that a scan did not: its transaction is unknown, or the wallet regards it as
 * spent, which the nodes deny. What the wallet does not find in a transaction, it does not find in the chain either.
 */
async function areInChain(wallet: Wallet, unfound: readonly (readonly [string, Origin])[]): Promise<boolean> {
  if (unfound.some(([, { txHash }]) => txHash === null)) return true
  const spent = await wallet.listSpent([...new Set(unfound.map(([, { index }]) => index))])
  return unfound.some(([image]) => spent.has(image))
}

/** Compares the blocks of outputs. The store and the wallet follow a reorganisation at different times, so two reads decide. */
function createPlaces() {
  const misplaced = new Map<string, Misplaced>()
  return {
    note: ({ outpoint, units, height }: RecordedUtxo, output: WalletOutput | undefined): void => {
      if (height === undefined) return
      // Of two outputs with one key the wallet keeps the larger, which is in another block (D41).
      if (output === undefined || output.height === height || output.units !== units)
        return void misplaced.delete(outpoint)
      const before = misplaced.get(outpoint)
      const isSame = before?.heights[0] === output.height && before.heights[1] === height
      misplaced.set(
        outpoint,
        isSame
          ? { ...before, reads: before.reads + 1 }
          : { heights: [output.height, height], reads: 1, isRescanned: false },
      )
    },
    isRescanDue: (): boolean => [...misplaced.values()].some(({ reads, isRescanned }) => reads > 1 && !isRescanned),
    noteRescan: (): void => {
      for (const [outpoint, one] of misplaced) misplaced.set(outpoint, { ...one, isRescanned: true })
    },
    has: (outpoint: string): boolean => misplaced.has(outpoint),
  }
}

/** The transactions that were scanned. The wallet rejects the whole list if one has been orphaned meanwhile. */
async function scanTransactions(
  wallet: Wallet,
  missing: readonly (readonly [string, Origin])[],
): Promise<ReadonlySet<string>> {
  const txHashes = [...new Set(missing.flatMap(([, { txHash }]) => txHash ?? []))]
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
