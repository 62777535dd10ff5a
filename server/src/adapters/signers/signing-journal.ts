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
 * What left the house, in an append-only file of the signer's own, as validators keep one (EIP-3076). A database that was
 * restored, failed over or tampered with cannot make this house pay one payout by two transactions that could both confirm.
 * Signing alone is not written down: bytes that died with their transaction, before anybody had them, bind nobody.
 */
type ReleaseLine = {
  kind: 'released'
  payoutId: string
  conflictKey: string
  destination: string
  units: string
  /** What lines of before the comparison with the database do not have. */
  network?: string
  txHash?: string
  assetId?: AssetId
  address?: string
  memo?: string | null
  at?: string
}
/** Before its releases: the transaction itself, from which a database that forgot it is told. */
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

/** `conflictKey` is null once a death was proven: a new transaction may pay, but the same units to the same destination. */
type ReleasedPayout = { conflictKey: string | null; destination: string; units: string; hashes: readonly string[] }
type State = {
  known: Map<string, ReleasedPayout>
  releases: PayoutRelease[]
  outflows: Outflow[]
  epoch: string | null
}

/** A payout's first release, for the rolling limits. */
export type Outflow = Readonly<{ payoutId: string; assetId: AssetId; address: string; units: bigint; at: number }>

export type SigningJournal = Readonly<{
  /** Throws where a payout left with another conflict key, destination or amount. */
  check(pays: readonly Payment[], conflictKey: string): void
  /** On disk before it returns. Throws as `check` does. */
  release(pays: readonly Payment[], conflictKey: string, departure: ReleasedTransaction): Promise<void>
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
  hasReleased(payoutId: string): boolean
  memory: SignerJournal
  /** First releases at or after a time, oldest first. */
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
      for (const pay of pays) isAlreadyReleased(state.known.get(pay.payoutId), lineOf(pay, conflictKey, '', now()))
    },
    async release(pays, conflictKey, departure) {
      const lines = pays.flatMap((pay): Line[] => {
        const line = lineOf(pay, conflictKey, departure.txHash, now())
        return isAlreadyReleased(state.known.get(pay.payoutId), line) ? [] : [line]
      })
      // At once, so that another transaction of the same payout finds it however soon it comes.
      for (const line of lines) remember(state, line)
      // Without lines of its own it still waits for those before it: they may be the same payouts'.
      await append(lines.length === 0 ? [] : [toTransactionLine(departure), ...lines])
    },
    async expire(payoutIds, proof) {
      const lines = [...new Set(payoutIds)].map(
        (payoutId): Line => ({ kind: 'expired', payoutId, proof: JSON.stringify(proof) }),
      )
      await append(lines)
      for (const line of lines) remember(state, line)
    },
    knows: (payoutId) => state.known.has(payoutId),
    memory: {
      generation: () => state.epoch,
      recordGeneration: async (epoch) => {
        const line: Line = { kind: 'epoch', epoch }
        await append([line])
        remember(state, line)
      },
      releases: (last) => (last === undefined ? state.releases : state.releases.slice(-last)),
      releasedTransactions: (txHashes) => readTransactions(path, txHashes),
    },
    outflows: (since) => {
      // Times rise but for a clock that was set back, which must not hide what left since.
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

/** Whether this very release is known already. Throws where it contradicts what is. */
function isAlreadyReleased(before: ReleasedPayout | undefined, line: ReleaseLine): boolean {
  if (!before) return false
  const isSame = before.destination === line.destination && before.units === line.units
  if (isSame && before.conflictKey === null) return false
  if (isSame && before.conflictKey === line.conflictKey) return before.hashes.includes(line.txHash ?? '')
  throw new AlreadyReleasedError(line.payoutId)
}

/** One write and one fsync after the other. After a failure nobody knows what the file holds: nothing is released until it is read again. */
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

/** A torn last line was never acknowledged, so nobody has its bytes: it is cut off. Any other damage is for a person. */
async function read(handle: FileHandle, path: string): Promise<State> {
  const state: State = { known: new Map(), releases: [], outflows: [], epoch: null }
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
        `line ${n + 1} of the signing journal ${path} cannot be read; nothing is signed until a person looked`,
        { cause },
      )
    }
  }
  return state
}

function remember(state: State, line: Line): void {
  const { known } = state
  if (line.kind === 'transaction') return
  if (line.kind === 'epoch') {
    state.epoch = line.epoch
    return
  }
  const before = known.get(line.payoutId)
  if (line.kind === 'expired') {
    if (before) known.set(line.payoutId, { ...before, conflictKey: null })
    return
  }
  const { payoutId, conflictKey, destination, network, txHash, assetId, address, memo } = line
  const units = BigInt(line.units)
  known.set(payoutId, {
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
  const departures: ReleasedTransaction[] = []
  const seen = new Set<string>()
  const file = await open(path, 'r')
  try {
    for await (const text of file.readLines()) {
      if (!text.startsWith('{"kind":"transaction"') || !text.endsWith('}')) continue
      const { kind: _, ...line } = JSON.parse(text) as TransactionLine
      if (!txHashes.has(line.txHash) || seen.has(line.txHash)) continue
      seen.add(line.txHash)
      const intent = JSON.parse(JSON.stringify(line.intent), (_key, value: unknown) =>
        typeof value === 'object' && value !== null && MARK in value ? BigInt(String(value[MARK])) : value,
      ) as SignIntent
      departures.push({ ...line, intent, feeUnits: BigInt(line.feeUnits) })
    }
  } finally {
    await file.close()
  }
  return departures
}
