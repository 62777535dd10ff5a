import { randomUUID } from 'node:crypto'
import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import {
  AlreadyReleasedError,
  isCancel,
  type PayoutRelease,
  type ReleasedTransaction,
  type SignerJournal,
  type SignIntent,
} from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import { openSegments, type Segments } from './journal-segments.ts'

/*
 * The signer's own append-only file of released payouts, like the slashing protection of validators (EIP-3076). With it, a
 * database that was restored, failed over or manipulated cannot make the signer pay one payout by two transactions that
 * could both confirm. Signatures are not recorded before their release: until then no one else has the bytes.
 */
type ReleaseLine = {
  kind: 'released'
  payoutId: string
  conflictKey: string
  destination: string
  units: string
  network: string
  txHash: string
  assetId: AssetId
  address: string
  memo: string | null
  at: string
  /** The transaction pays nothing; it uses up the nonce of the payout (I-38). */
  cancels?: true
  /** It returns a deposit. Absent also if the signer was restarted between signature and release: then it counts as a payout. */
  refunds?: true
}
/** The transaction in full, before its releases, so that a restored database can import it. */
type TransactionLine = Omit<ReleasedTransaction, 'intent' | 'feeUnits'> & {
  kind: 'transaction'
  intent: unknown
  feeUnits: string
}
type Line =
  | ReleaseLine
  | TransactionLine
  | { kind: 'expired'; payoutId: string; proof: string }
  /** The first one names the journal, before a database has accepted it. */
  | { kind: 'epoch'; epoch: string | null; journal?: string }

/** `conflictKey` is null after a conflict proof: another transaction may pay, but the same units to the same destination. */
type ReleasedPayout = {
  conflictKey: string | null
  destination: string
  units: string
  /** Of transactions that pay it. */
  hashes: readonly string[]
  /** Of transactions that cancel these. */
  cancels: readonly string[]
  /** This journal released no transaction that pays it. */
  isCancelOnly: boolean
  at: number
}
type State = {
  payouts: Map<string, ReleasedPayout>
  /** Payouts that only the disk knows in full. */
  old: IdSet
  releases: PayoutRelease[]
  outflows: Outflow[]
  generation: string | null
  id: string | null
}

const emptyState = (): State => ({
  payouts: new Map(),
  old: createIdSet(),
  releases: [],
  outflows: [],
  generation: null,
  id: null,
})

/** A payout's first release, for the rolling limits. */
export type Outflow = Readonly<{
  payoutId: string
  assetId: AssetId
  address: string
  units: bigint
  at: number
  isRefund: boolean
}>

export type SigningJournal = Readonly<{
  /** Throws if a payout was released with another conflict key, destination or amount. */
  check(pays: readonly Payment[], conflictKey: string): Promise<void>
  /** Resolves when the release is on disk. Throws like `check`. */
  release(
    pays: readonly Payment[],
    conflictKey: string,
    transaction: ReleasedTransaction,
    isRefund?: (payoutId: string) => boolean,
  ): Promise<void>
  recordInvalidation(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
  memory: SignerJournal
  /** First releases after a time, oldest first. */
  outflows(since: number): readonly Outflow[]
  close(): Promise<void>
}>

const DAY_MS = 86_400_000
/** Payouts stay in memory for this time: by then their transactions are final. Later questions read the disk. */
const MEMORY_MS = 14 * DAY_MS
/** Lines between two releases of memory while the journal is read. */
const FORGET_LINES = 50_000
/** Releases in memory, for the comparison with the database. */
const NEWEST = 2_000

export async function openSigningJournal(
  path: string,
  now: () => number = Date.now,
  segmentBytes?: number,
): Promise<SigningJournal> {
  const state = emptyState()
  let count = 0
  const replay = (text: Buffer, place: string) => {
    remember(state, parse(text, place), 'replay')
    if (++count % FORGET_LINES === 0) forget(state, now())
  }
  const segments = await openSegments(path, replay, segmentBytes)
  forget(state, now())
  let forgottenAt = now()
  const append = (lines: readonly Line[]) => segments.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const recall = (pays: readonly Payment[]) =>
    recallPayouts(state, segments, new Set(pays.map(({ payoutId }) => payoutId)))
  return {
    check: async (pays, conflictKey) => {
      await recall(pays)
      for (const pay of pays) isAlreadyReleased(state.payouts.get(pay.payoutId), lineOf(pay, conflictKey, '', now()))
    },
    async release(pays, conflictKey, transaction, isRefund = () => false) {
      await recall(pays)
      const lines = pays.flatMap((pay): Line[] => {
        const line = {
          ...lineOf(pay, conflictKey, transaction.txHash, now()),
          ...(isCancel(transaction.intent) ? { cancels: true as const } : {}),
          ...(isRefund(pay.payoutId) ? { refunds: true as const } : {}),
        }
        return isAlreadyReleased(state.payouts.get(pay.payoutId), line) ? [] : [line]
      })
      // Before the write, so that a concurrent release of the same payout in another transaction is refused.
      for (const line of lines) remember(state, line)
      // A repeated release adds no lines but waits for the earlier ones, which may be of the same payouts.
      await append(lines.length === 0 ? [] : [toTransactionLine(transaction), ...lines])
      if (now() - forgottenAt < DAY_MS / 24) return
      forget(state, now())
      forgottenAt = now()
    },
    async recordInvalidation(payoutIds, proof) {
      const lines = [...new Set(payoutIds)].map(
        (payoutId): Line => ({ kind: 'expired', payoutId, proof: JSON.stringify(proof) }),
      )
      await append(lines)
      for (const line of lines) remember(state, line)
    },
    memory: createMemory(state, segments),
    outflows: (since) => {
      // Both filters read all entries: a clock that was set back can leave the times out of order.
      state.outflows = state.outflows.filter(({ at }) => at > since - DAY_MS)
      return state.outflows.filter(({ at }) => at > since)
    },
    close: segments.close,
  }
}

function createMemory(state: State, segments: Segments): SignerJournal {
  const record = async (line: Line) => {
    await segments.append(`${JSON.stringify(line)}\n`)
    remember(state, line)
  }
  return {
    id: () => state.id,
    recordName: async () => {
      const journal = randomUUID()
      await record({ kind: 'epoch', epoch: null, journal })
      return journal
    },
    generation: () => state.generation,
    recordGeneration: (epoch) => record({ kind: 'epoch', epoch }),
    newestReleases: () => state.releases.slice(-NEWEST),
    allReleases: () => readReleases(segments),
    releasedTransactions: (select) => readTransactions(segments, select),
    bytes: segments.bytes,
    position: segments.position,
  }
}

/** Releases the memory of old payouts. Their ids stay, so that a question about one of them reads the disk. */
function forget(state: State, now: number): void {
  for (const [payoutId, { at }] of state.payouts) {
    if (at > now - MEMORY_MS) continue
    state.old.add(payoutId)
    state.payouts.delete(payoutId)
  }
  state.outflows = state.outflows.filter(({ at }) => at > now - 2 * DAY_MS)
  state.releases = state.releases.slice(-NEWEST)
}

/** Reads the old payouts among these from the disk, which takes seconds: an old payout is released again only after a mishap. */
async function recallPayouts(state: State, segments: Segments, payoutIds: ReadonlySet<string>): Promise<void> {
  const { payouts, old } = state
  const missing = new Set([...payoutIds].filter((id) => !payouts.has(id) && old.mayHave(id)))
  if (missing.size === 0) return
  const present = [...payoutIds].flatMap((id) => {
    const payout = payouts.get(id)
    return payout ? [[id, payout] as const] : []
  })
  const recalled = emptyState()
  for await (const lines of segments.lines()) {
    for (const text of lines) {
      const line = parseUnless(text, TRANSACTION_START)
      if (line !== null && 'payoutId' in line && missing.has(line.payoutId)) remember(recalled, line)
    }
  }
  // A concurrent release may have brought one back, with more than the disk had.
  for (const [id, payout] of recalled.payouts) if (!payouts.has(id)) payouts.set(id, payout)
  // Another release may have freed the memory of the others while the disk was read.
  for (const [id, payout] of present) if (!payouts.has(id)) payouts.set(id, payout)
}

const destinationOf = (pay: Payment): string => `${pay.asset.id} ${pay.address} ${pay.memo ?? ''}`

const lineOf = (pay: Payment, conflictKey: string, txHash: string, at: number): ReleaseLine => ({
  kind: 'released',
  payoutId: pay.payoutId,
  conflictKey,
  destination: destinationOf(pay),
  units: pay.units.toString(),
  network: pay.asset.network,
  txHash,
  assetId: pay.asset.id,
  address: pay.address,
  memo: pay.memo,
  at: new Date(at).toISOString(),
})

/** Whether this release is in the journal already. Throws if it contradicts an earlier one. */
function isAlreadyReleased(before: ReleasedPayout | undefined, line: ReleaseLine): boolean {
  if (!before) return false
  const isSame = before.destination === line.destination && before.units === line.units
  if (isSame && before.conflictKey === null) return false
  if (isSame && before.isCancelOnly && before.conflictKey !== line.conflictKey) return false
  if (isSame && before.conflictKey === line.conflictKey)
    return [...before.hashes, ...before.cancels].includes(line.txHash)
  throw new AlreadyReleasedError(line.payoutId, before.hashes, isSame)
}

const TRANSACTION_START = Buffer.from('{"kind":"transaction"')

function parse(text: Buffer, place: string): Line {
  try {
    return JSON.parse(text.toString('utf8')) as Line
  } catch (cause) {
    throw new AppError(
      'INTERNAL',
      `${place} cannot be read; the signer does not start until an operator has checked the file`,
      { cause },
    )
  }
}

/** Null for lines that begin in this way, which are not parsed. The lines were checked when the journal was opened. */
function parseUnless(text: Buffer, start: Buffer): Line | null {
  return text.subarray(0, start.length).equals(start) ? null : (JSON.parse(text.toString('utf8')) as Line)
}

/** In a replay, a payout whose first lines were forgotten stays on the disk: its later lines alone would permit too much. */
function remember(state: State, line: Line, source: 'replay' | 'other' = 'other'): void {
  const { payouts, old } = state
  if (line.kind === 'transaction') return
  if (line.kind === 'epoch') {
    state.generation = line.epoch ?? state.generation
    state.id ??= line.journal ?? null
    return
  }
  const before = payouts.get(line.payoutId)
  if (line.kind === 'expired') {
    if (before) payouts.set(line.payoutId, { ...before, conflictKey: null })
    return
  }
  const { payoutId, conflictKey, destination } = line
  const release = toRelease(line)
  const earlier = before?.conflictKey === conflictKey ? before : { hashes: [], cancels: [] }
  const isCancelling = line.cancels === true
  const isOnDisk = source === 'replay' && before === undefined && old.mayHave(payoutId)
  if (!isOnDisk)
    payouts.set(payoutId, {
      conflictKey,
      destination,
      units: line.units,
      hashes: isCancelling ? earlier.hashes : [...earlier.hashes, line.txHash],
      cancels: isCancelling ? [...earlier.cancels, line.txHash] : earlier.cancels,
      isCancelOnly: isCancelling && (before?.isCancelOnly ?? true),
      at: release.at.getTime(),
    })
  state.releases.push(release)
  const { assetId, address, units, at } = release
  // Another worker may have released the payout that this one cancels, so a cancel counts as no release.
  const isFirst = before === undefined ? !old.mayHave(payoutId) : before.isCancelOnly
  const isRefund = line.refunds === true
  if (!isCancelling && isFirst) state.outflows.push({ payoutId, assetId, address, units, at: at.getTime(), isRefund })
}

const toRelease = ({ payoutId, network, txHash, assetId, address, memo, units, at }: ReleaseLine): PayoutRelease => ({
  payoutId,
  network,
  txHash,
  assetId,
  address,
  memo,
  units: BigInt(units),
  at: new Date(at),
})

async function* readReleases(segments: Segments): AsyncGenerator<readonly PayoutRelease[]> {
  for await (const lines of segments.lines()) {
    const releases = lines.flatMap((text) => {
      const line = parseUnless(text, TRANSACTION_START)
      return line?.kind === 'released' ? toRelease(line) : []
    })
    if (releases.length > 0) yield releases
  }
}

/** JSON has no bigint: units travel as `{"$units": "123"}`. */
const MARK = '$units'

function toTransactionLine({ intent, feeUnits, ...rest }: ReleasedTransaction): TransactionLine {
  const plain: unknown = JSON.parse(
    JSON.stringify(intent, (_key, value: unknown) => (typeof value === 'bigint' ? { [MARK]: `${value}` } : value)),
  )
  return { kind: 'transaction', ...rest, intent: plain, feeUnits: feeUnits.toString() }
}

async function* readTransactions(
  segments: Segments,
  select: (txHashes: readonly string[]) => Promise<ReadonlySet<string>>,
): AsyncGenerator<readonly ReleasedTransaction[]> {
  for await (const texts of segments.lines()) {
    const lines = texts
      .filter((text) => text.subarray(0, TRANSACTION_START.length).equals(TRANSACTION_START))
      .map((text) => JSON.parse(text.toString('utf8')) as TransactionLine)
    if (lines.length === 0) continue
    const selected = await select(lines.map(({ txHash }) => txHash))
    const transactions = lines.filter(({ txHash }) => selected.has(txHash)).map(toTransaction)
    if (transactions.length > 0) yield transactions
  }
}

function toTransaction({ kind: _, ...line }: TransactionLine): ReleasedTransaction {
  const intent = JSON.parse(JSON.stringify(line.intent), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && MARK in value ? BigInt(String(value[MARK])) : value,
  ) as SignIntent
  return { ...line, intent, feeUnits: BigInt(line.feeUnits) }
}
