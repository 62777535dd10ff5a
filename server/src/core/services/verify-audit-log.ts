import { createHash } from 'node:crypto'
import type { AuditLog, AuditLogEntry } from '../ports/store/audit-log.ts'

const AT_ONCE = 1_000
const BEGINNING = '00'.repeat(32)

export type Verified =
  | { kind: 'whole'; acts: number; head: string }
  /** The first row that was changed, or whose predecessor is missing. */
  | { kind: 'broken'; row: string; why: string }

const digest = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/**
 * Verifies the hash chain of the audit log, which `0001_core.sql` defines (I-28). Computes the hashes here, because the
 * database under audit could return false ones. The chain does not show that its last rows were deleted: keep the head
 * that was shown before, and compare.
 */
export async function verifyAuditLog(auditLog: Pick<AuditLog, 'after'>): Promise<Verified> {
  let last = BEGINNING
  let after = 0n
  for (let acts = 0; ; ) {
    const rows = await auditLog.after(after, AT_ONCE)
    if (rows.length === 0) return { kind: 'whole', acts, head: last }
    for (const row of rows) {
      if (row.previous !== last) return { kind: 'broken', row: row.id, why: 'it does not follow the row before it' }
      if (row.hash !== hashOf(row)) return { kind: 'broken', row: row.id, why: 'it is not what was written' }
      last = row.hash
      after = BigInt(row.id)
      acts++
    }
  }
}

function hashOf({ previous, fields }: AuditLogEntry): string {
  return digest(Buffer.from(previous, 'hex'), ...fields.map((field) => digest(field))).toString('hex')
}
