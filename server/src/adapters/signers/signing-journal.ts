import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import type { Pay } from '../../ports/spend.ts'

/*
 * What left the house, in an append-only file of the signer's own, as validators keep one (EIP-3076). A database that was
 * restored, failed over or tampered with cannot make this house pay one payout by two transactions that could both confirm.
 * Signing alone is not written down: bytes that died with their transaction, before anybody had them, bind nobody.
 */
type Line =
  | { kind: 'released'; payoutId: string; conflictKey: string; destination: string; units: string }
  | { kind: 'expired'; payoutId: string; proof: string }

/** `conflictKey` is null once a death was proven: a new transaction may pay, but the same units to the same destination. */
type Known = { conflictKey: string | null; destination: string; units: string }

export type SigningJournal = Readonly<{
  /** On disk before it returns. Throws where a payout left with another conflict key, destination or amount. */
  release(pays: readonly Pay[], conflictKey: string): Promise<void>
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}>

export async function openSigningJournal(path: string): Promise<SigningJournal> {
  const handle = await open(path, 'a+', 0o600)
  const known = await read(handle, path).catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
  const append = createAppend(handle)
  return {
    async release(pays, conflictKey) {
      const lines = pays.flatMap((pay): Line[] => {
        const line = {
          kind: 'released' as const,
          payoutId: pay.payoutId,
          conflictKey,
          destination: destinationOf(pay),
          units: pay.units.toString(),
        }
        return isReleased(known.get(pay.payoutId), line) ? [] : [line]
      })
      // At once, so that another transaction of the same payout finds it however soon it comes.
      for (const line of lines) remember(known, line)
      // Without lines of its own it still waits for those before it: they may be the same payouts'.
      await append(lines)
    },
    async expire(payoutIds, proof) {
      const lines = [...new Set(payoutIds)].map(
        (payoutId): Line => ({ kind: 'expired', payoutId, proof: JSON.stringify(proof) }),
      )
      await append(lines)
      for (const line of lines) remember(known, line)
    },
    close: async () => {
      await append([]).catch(() => undefined)
      await handle.close()
    },
  }
}

const destinationOf = (pay: Pay): string => `${pay.asset.id} ${pay.address} ${pay.memo ?? ''}`

/** Whether this very release is known already. Throws where it contradicts what is. */
function isReleased(before: Known | undefined, line: Extract<Line, { kind: 'released' }>): boolean {
  if (!before) return false
  const isSame = before.destination === line.destination && before.units === line.units
  if (isSame && before.conflictKey === null) return false
  if (isSame && before.conflictKey === line.conflictKey) return true
  throw new AppError(
    'INTERNAL',
    `payout ${line.payoutId} left before, by another transaction or to another destination`,
  )
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
async function read(handle: FileHandle, path: string): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  const bytes = await handle.readFile()
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < bytes.length) {
    await handle.truncate(end)
    await handle.datasync()
  }
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
  for (const [n, text] of lines.entries()) {
    try {
      remember(known, JSON.parse(text) as Line)
    } catch (cause) {
      throw new AppError(
        'INTERNAL',
        `line ${n + 1} of the signing journal ${path} cannot be read; nothing is signed until a person looked`,
        { cause },
      )
    }
  }
  return known
}

function remember(known: Map<string, Known>, line: Line): void {
  if (line.kind === 'released') {
    known.set(line.payoutId, { conflictKey: line.conflictKey, destination: line.destination, units: line.units })
    return
  }
  const before = known.get(line.payoutId)
  if (before) known.set(line.payoutId, { ...before, conflictKey: null })
}
