import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { createAuditLog } from '../adapters/postgres/core/audit-log.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import type { AuditLog } from '../core/ports/store/audit-log.ts'
import type { AuditNote } from '../core/services/audit-note.ts'

export type WithReason = Readonly<{ reason?: string }>

/** Every command that changes something takes a reason, which is written down with who gave it (I-28). */
export const reasoned = (command: Command): Command => command.option('--reason <text>', 'why; written down')

/** Asks for the reason where somebody sits there to be asked; what money depends on refuses to go without one. */
export async function askWord({ reason }: WithReason): Promise<AuditNote> {
  const actor = userInfo().username
  if (reason !== undefined || !process.stdin.isTTY) return { actor, reason: reason ?? '' }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return { actor, reason: await asking.question('why? ') }
  } finally {
    asking.close()
  }
}

/** For what no money depends on: a dash stands for a reason that was not given. */
export const plainWord = ({ reason }: WithReason): AuditNote => ({ actor: userInfo().username, reason: reason ?? '-' })

/** What a command changes and the row that tells of it: both, or neither. */
export function recorded<T>(
  database: Database,
  work: (inside: Database, record: AuditLog['record']) => Promise<T>,
): Promise<T> {
  return database.transaction((tx) =>
    work(
      { ...database, query: (text, values, name) => tx.query(text, values, name), transaction: (inner) => inner(tx) },
      createAuditLog(tx).record,
    ),
  )
}
