import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import {
  AlreadyReleasedError,
  type PayoutRelease,
  type ReleasedTransaction,
  type SignerJournal,
  type SignIntent,
} from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'

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
  /** Absent in lines of versions that did not compare the journal with the database. */
  network?: string
  txHash?: string
  assetId?: AssetId
  address?: string
  memo?: string | null
  at?: string
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
  | { kind: 'epoch'; epoch: string }

/** `conflictKey` is null after a conflict proof: another transaction may pay, but the same units to the same destination. */
type ReleasedPayout = { conflictKey: string | null; destination: string; units: string; hashes: readonly string[] }
type State = {
  payouts: Map<string, ReleasedPayout>
  releases: PayoutRelease[]
  outflows: Outflow[]
  generation: string | null
}

/** A payout's first release, for the rolling limits. */
export type Outflow = Readonly<{ payoutId: string; assetId: AssetId; address: string; units: bigint; at: number }>

export type SigningJournal = Readonly<{
  /** Throws if a payout was released with another conflict key, destination or amount. */
  check(pays: readonly Payment[], conflictKey: string): void
  /** Resolves when the release is on disk. Throws like `check`. */
  release(pays: readonly Payment[], conflictKey: string, transaction: ReleasedTransaction): Promise<void>
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
  hasReleased(payoutId: string): boolean
  memory: SignerJournal
  /** First releases after a time, oldest first. */
  outflows(since: number): readonly Outflow[]
  close(): Promise<void>
}>

export async function openSigningJournal(path: string, now: () => number = Date.now): Promise<SigningJournal> {
  const handle = await open(path, 'a+', 0o600)
  const state = await read(handle, path).catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
  const append = createAppend(handle)
  return {
    check: (pays, conflictKey) => {
      for (const pay of pays) isAlreadyReleased(state.payouts.get(pay.payoutId), lineOf(pay, conflictKey, '', now()))
    },
    async release(pays, conflictKey, transaction) {
      const lines = pays.flatMap((pay): Line[] => {
        const line = lineOf(pay, conflictKey, transaction.txHash, now())
        return isAlreadyReleased(state.payouts.get(pay.payoutId), line) ? [] : [line]
      })
      // Before the write, so that a concurrent release of the same payout in another transaction is refused.
      for (const line of lines) remember(state, line)
      // A repeated release adds no lines but waits for the earlier ones, which may be of the same payouts.
      await append(lines.length === 0 ? [] : [toTransactionLine(transaction), ...lines])
    },
    async expire(payoutIds, proof) {
      const lines = [...new Set(payoutIds)].map(
        (payoutId): Line => ({ kind: 'expired', payoutId, proof: JSON.stringify(proof) }),
      )
      await append(lines)
      for (const line of lines) remember(state, line)
    },
    hasReleased: (payoutId) => state.payouts.has(payoutId),
    memory: {
      generation: () => state.generation,
      recordGeneration: async (generation) => {
        const line: Line = { kind: 'epoch', epoch: generation }
        await append([line])
        remember(state, line)
      },
      releases: (last) => (last === undefined ? state.releases : state.releases.slice(-last)),
      releasedTransactions: (txHashes) => readTransactions(path, txHashes),
    },
    outflows: (since) => {
      // Both filters read all entries: a clock that was set back can leave the times out of order.
      state.outflows = state.outflows.filter(({ at }) => at > since - DAY_MS)
      return state.outflows.filter(({ at }) => at > since)
    },
    close: async () => {
      await append([]).catch(() => undefined)
      await handle.close()
    },
  }
}

const DAY_MS = 86_400_000

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
  if (isSame && before.conflictKey === line.conflictKey) return before.hashes.includes(line.txHash ?? '')
  throw new AlreadyReleasedError(line.payoutId)
}

/** Writes and syncs one batch after the other. After a failure the content of the file is unknown, so every later write fails until a restart reads it. */
function createAppend(handle: FileHandle): (lines: readonly Line[]) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (lines) => {
    if (lines.length === 0) return last
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    last = last.then(async () => {
      await handle.appendFile(text)
      await handle.datasync()
    })
    return last
  }
}

/** Cuts off an incomplete last line: its release was never acknowledged, so no one has the bytes. Throws on any other damage. */
async function read(handle: FileHandle, path: string): Promise<State> {
  const state: State = { payouts: new Map(), releases: [], outflows: [], generation: null }
  const bytes = await handle.readFile()
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < bytes.length) {
    await handle.truncate(end)
    await handle.datasync()
  }
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
  for (const [n, text] of lines.entries()) {
    try {
      remember(state, JSON.parse(text) as Line)
    } catch (cause) {
      throw new AppError(
        'INTERNAL',
        `line ${n + 1} of the signing journal ${path} cannot be read; the signer does not start until an operator has checked the file`,
        { cause },
      )
    }
  }
  return state
}

function remember(state: State, line: Line): void {
  const { payouts } = state
  if (line.kind === 'transaction') return
  if (line.kind === 'epoch') {
    state.generation = line.epoch
    return
  }
  const before = payouts.get(line.payoutId)
  if (line.kind === 'expired') {
    if (before) payouts.set(line.payoutId, { ...before, conflictKey: null })
    return
  }
  const { payoutId, conflictKey, destination, network, txHash, assetId, address, memo } = line
  const units = BigInt(line.units)
  payouts.set(payoutId, {
    conflictKey,
    destination,
    units: line.units,
    hashes: [...(before?.conflictKey === conflictKey ? before.hashes : []), ...(txHash === undefined ? [] : [txHash])],
  })
  if (network === undefined || txHash === undefined || assetId === undefined || address === undefined) return
  const at = new Date(line.at ?? 0)
  state.releases.push({ payoutId, network, txHash, assetId, address, memo: memo ?? null, units, at })
  if (before === undefined) state.outflows.push({ payoutId, assetId, address, units, at: at.getTime() })
}

/** JSON has no bigint: units travel as `{"$units": "123"}`. */
const MARK = '$units'

function toTransactionLine({ intent, feeUnits, ...rest }: ReleasedTransaction): TransactionLine {
  const plain: unknown = JSON.parse(
    JSON.stringify(intent, (_key, value: unknown) => (typeof value === 'bigint' ? { [MARK]: `${value}` } : value)),
  )
  return { kind: 'transaction', ...rest, intent: plain, feeUnits: feeUnits.toString() }
}

async function readTransactions(path: string, txHashes: ReadonlySet<string>): Promise<readonly ReleasedTransaction[]> {
  const transactions: ReleasedTransaction[] = []
  const readHashes = new Set<string>()
  const file = await open(path, 'r')
  try {
    for await (const text of file.readLines()) {
      if (!text.startsWith('{"kind":"transaction"') || !text.endsWith('}')) continue
      const { kind: _, ...line } = JSON.parse(text) as TransactionLine
      if (!txHashes.has(line.txHash) || readHashes.has(line.txHash)) continue
      readHashes.add(line.txHash)
      const intent = JSON.parse(JSON.stringify(line.intent), (_key, value: unknown) =>
        typeof value === 'object' && value !== null && MARK in value ? BigInt(String(value[MARK])) : value,
      ) as SignIntent
      transactions.push({ ...line, intent, feeUnits: BigInt(line.feeUnits) })
    }
  } finally {
    await file.close()
  }
  return transactions
}
