import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { AppError } from '../../domain/errors.ts'
import type { Pay } from '../../ports/chain.ts'

/*
 * What left the house, in an append-only file of the signer's own, as validators keep one (EIP-3076). A database that was
 * restored, failed over or tampered with cannot make this house pay one payout by two transactions that could both confirm.
 * Signing alone is not written down: bytes that died with their transaction, before anybody had them, bind nobody.
 */
type Line =
  | { kind: 'released'; payoutId: string; conflictKey: string; destination: string; units: string }
  | { kind: 'expired'; payoutId: string; proof: string }

type Known = { conflictKey: string; destination: string; units: string }

export type SigningJournal = Readonly<{
  /** On disk before it returns. Throws where a payout left with another conflict key, destination or amount. */
  release(pays: readonly Pay[], conflictKey: string): Promise<void>
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}>

export async function openSigningJournal(path: string): Promise<SigningJournal> {
  const handle = await open(path, 'a', 0o600)
  const known = await read(path)
  // One write and one fsync at a time: what waits goes together.
  let last: Promise<void> = Promise.resolve()
  const append = (lines: readonly Line[]): Promise<void> => {
    const next = async () => {
      await handle.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      await handle.datasync()
    }
    last = last.then(next, next)
    return last
  }
  return {
    async release(pays, conflictKey) {
      const lines = pays.flatMap((pay): Line[] => {
        const destination = `${pay.asset.id} ${pay.address} ${pay.memo ?? ''}`
        const units = pay.units.toString()
        const before = known.get(pay.payoutId)
        if (before && (before.conflictKey !== conflictKey || before.destination !== destination || before.units !== units)) {
          throw new AppError('INTERNAL', `payout ${pay.payoutId} left before, by another transaction or to another destination`)
        }
        return before ? [] : [{ kind: 'released', payoutId: pay.payoutId, conflictKey, destination, units }]
      })
      if (lines.length === 0) return last
      for (const line of lines) remember(known, line)
      await append(lines)
    },
    async expire(payoutIds, proof) {
      const lines = [...new Set(payoutIds)].map((payoutId): Line => ({ kind: 'expired', payoutId, proof: JSON.stringify(proof) }))
      await append(lines)
      for (const line of lines) remember(known, line)
    },
    close: () => handle.close(),
  }
}

/** A torn last line is of bytes that nobody has: it was not on disk when the process died. */
async function read(path: string): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    try {
      remember(known, JSON.parse(text) as Line)
    } catch {
      continue
    }
  }
  return known
}

function remember(known: Map<string, Known>, line: Line): void {
  if (line.kind === 'expired') known.delete(line.payoutId)
  else known.set(line.payoutId, { conflictKey: line.conflictKey, destination: line.destination, units: line.units })
}
