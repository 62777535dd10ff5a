import { AppError } from '../../../core/domain/errors.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { subaddressOf } from './keys.ts'
import { listUnspent, type MoneroNode } from './node.ts'
import type { OutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'

type Outputs = ReadonlyMap<string, WalletOutput>

/**
 * The wallet's unspent outputs by key image, compared with the outputs that the store has recorded.
 *
 * A scan of one transaction can break the wallet's view (`wallet2::scan_tx` of monerod 0.18.0): if the wallet has not read
 * the block yet and a reorganisation removes it, the wallet keeps the outputs of the transaction with their old place, and
 * keeps its inputs as spent. Later blocks do not correct that, so `repair` does.
 */
export type WalletOutputs = Readonly<{
  /** Reads the outputs. Records the given ones that the wallet lacks, for the next `repair`. */
  read(wallet: Wallet, recorded: readonly RecordedUtxo[]): Promise<Outputs>
  /** Reads the outputs, and repairs the wallet's view if it lacks one of the given ones or has it at a wrong place. */
  compare(wallet: Wallet, recorded: readonly RecordedUtxo[]): Promise<Outputs>
  /**
   * Work that is too slow for a database transaction: extends the wallet's lookahead, adds missing outputs and freezes new
   * ones. Scans the transactions of missing outputs, later again if a scan does not find them: the transaction may have been
   * in no block. Rescans the chain, at most once per output, if the transaction of a missing one is not known, or if the
   * wallet regards it as spent and no node does.
   */
  repair(wallet: Wallet): Promise<Outputs>
  /** Whether the wallet has scanned the transaction of this deposit, and does not hold its output. */
  isUnreadable(identity: string): boolean
}>

export type WalletOutputsOptions = Readonly<{
  /** The transactions of our outputs, as far as this process has scanned them. */
  origins: OutputOrigins
  /** The first is the wallet's daemon. */
  nodes: readonly Pick<MoneroNode, 'areSpent' | 'outputs'>[]
  /** Monotonic, in ms. */
  now?: () => number
}>

/** Transactions that are scanned one by one in one repair, if the wallet rejects them together. */
const SCANS_MAX = 50
/** Time until a transaction is scanned again, doubled each time. Anyone can send outputs that the wallet does not find. */
const SCAN_AGAIN_MS = { min: 10_000, max: 3_600_000 } as const

/** `index`: of the subaddress. */
type Origin = Readonly<{ txHash: string | null; identity: string | null; index: number }>
/** `againAt`: time of the next scan; Infinity = never. `isRescanned`: a rescan did not find it either. */
type Unfound = Readonly<{ origin: Origin; waitMs: number; againAt: number; isRescanned: boolean }>

export function createWalletOutputs(options: WalletOutputsOptions): WalletOutputs {
  const { origins, nodes, now = () => performance.now() } = options
  const [daemon] = nodes
  assert(daemon, 'the wallet has a daemon')
  let highestIndex = 0
  const missing = new Map<string, Origin>()
  const unfound = new Map<string, Unfound>()
  /** Outputs and their places for which the chain was rescanned. */
  const rescannedPlaces = new Set<string>()

  const isDue = (image: string): boolean => {
    const before = unfound.get(image)
    if (before === undefined || now() >= before.againAt) return true
    return before.origin.txHash === null && typeof missing.get(image)?.txHash === 'string'
  }
  const noteUnfound = (image: string, origin: Origin, isRescan: boolean) => {
    const before = unfound.get(image) ?? { waitMs: SCAN_AGAIN_MS.min / 2, isRescanned: false }
    const waitMs = Math.min(before.waitMs * 2, SCAN_AGAIN_MS.max)
    const againAt = origin.txHash === null ? Infinity : now() + waitMs
    unfound.set(image, { origin, waitMs, againAt, isRescanned: before.isRescanned || isRescan })
  }
  const read: WalletOutputs['read'] = async (wallet, recorded) => {
    const outputs = await wallet.outputs()
    for (const { outpoint, path, deposit } of recorded) {
      const { index } = subaddressOf(path)
      highestIndex = Math.max(highestIndex, index)
      const { txHash = origins.txHashOf(outpoint), identity = null } = deposit ?? {}
      if (outputs.has(outpoint)) unfound.delete(outpoint)
      else if (deposit || !missing.has(outpoint)) missing.set(outpoint, { txHash, identity, index })
    }
    return outputs
  }
  /** `misplaced`: outputs that the daemon had at another place than the wallet. */
  const repair = async (wallet: Wallet, misplaced: Outputs = new Map()): Promise<Outputs> => {
    await wallet.extendLookahead(Math.max(highestIndex, origins.highestIndex()))
    let outputs = await wallet.outputs('slow')
    const listMissing = () => [...missing].filter(([image]) => !outputs.has(image) && isDue(image))
    const scanned = await scanTransactions(wallet, listMissing())
    if (scanned.size > 0) outputs = await wallet.outputs('slow')
    const afterScan = listMissing().filter(([, { txHash }]) => txHash === null || scanned.has(txHash))
    const notRescanned = afterScan.filter(([image]) => unfound.get(image)?.isRescanned !== true)
    const places = await listMisplaced(daemon, keepPlaces(misplaced, outputs, rescannedPlaces))
    const isRescan = places.size > 0 || (await areInChain(wallet, nodes, notRescanned))
    if (isRescan) {
      await wallet.rescan()
      for (const [image, output] of places) rescannedPlaces.add(placeOf(image, output))
      outputs = await wallet.outputs('slow')
    }
    for (const [image, origin] of afterScan) if (!outputs.has(image)) noteUnfound(image, origin, isRescan)
    for (const image of missing.keys()) if (outputs.has(image)) unfound.delete(image)
    missing.clear()
    for (const [image, { frozen }] of outputs) if (!frozen) await wallet.setFrozen(image, true)
    return outputs
  }
  return {
    read,
    compare: async (wallet, recorded) => {
      const outputs = await read(wallet, recorded)
      const images = new Set(recorded.map(({ outpoint }) => outpoint))
      const held = new Map([...outputs].filter(([image]) => images.has(image)))
      const misplaced = await listMisplaced(daemon, held)
      return misplaced.size > 0 || [...missing.keys()].some(isDue) ? repair(wallet, misplaced) : outputs
    },
    repair: (wallet) => repair(wallet),
    isUnreadable: (identity) => [...unfound.values()].some(({ origin }) => origin.identity === identity),
  }
}

/**
 * Whether a rescan finds one of the outputs that a scan did not: its transaction is unknown, or the wallet regards it as
 * spent and no node does. What the wallet does not find in a transaction, it does not find in the chain either.
 */
async function areInChain(
  wallet: Wallet,
  nodes: WalletOutputsOptions['nodes'],
  unfound: readonly (readonly [string, Origin])[],
): Promise<boolean> {
  if (unfound.some(([, { txHash }]) => txHash === null)) return true
  const spent = await wallet.listSpent([...new Set(unfound.map(([, { index }]) => index))])
  const images = unfound.flatMap(([image]) => (spent.has(image) ? [image] : []))
  return images.length > 0 && (await listUnspent(nodes, images)).size > 0
}

const placeOf = (image: string, { globalIndex }: WalletOutput): string => `${image} ${globalIndex}`

/** The outputs that the wallet still has at the same place after its refresh, and for which the chain was not rescanned. */
const keepPlaces = (misplaced: Outputs, outputs: Outputs, rescannedPlaces: ReadonlySet<string>): Outputs =>
  new Map(
    [...misplaced].filter(([image, output]) => {
      const place = placeOf(image, output)
      return outputs.get(image)?.globalIndex === output.globalIndex && !rescannedPlaces.has(place)
    }),
  )

/**
 * The outputs in whose place the daemon has another one, or none. The wallet cannot spend them: "Daemon response did not
 * include the requested real output".
 */
async function listMisplaced(daemon: Pick<MoneroNode, 'outputs'>, outputs: Outputs): Promise<Outputs> {
  const entries = [...outputs]
  if (entries.length === 0) return new Map()
  const found = await daemon.outputs(entries.map(([, { globalIndex }]) => globalIndex))
  if (found !== null) return new Map(entries.filter(([, { key }], at) => found[at]?.key !== key))
  if (entries.length === 1) return outputs
  // One of them is beyond the end of the chain.
  const middle = Math.floor(entries.length / 2)
  const halves = [entries.slice(0, middle), entries.slice(middle)]
  const parts = await Promise.all(halves.map((half) => listMisplaced(daemon, new Map(half))))
  return new Map(parts.flatMap((part) => [...part]))
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
