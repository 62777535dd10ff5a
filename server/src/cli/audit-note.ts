import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { createAuditLog } from '../adapters/postgres/core/audit-log.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import type { AuditLog } from '../core/ports/store/audit-log.ts'
import type { AuditNote } from '../core/services/audit-note.ts'

export type ReasonOption = Readonly<{ reason?: string | undefined }>

const reasonOption = ['--reason <text>', 'why; stored in the audit log with your user name'] as const

/** The option of every command that changes something. */
export const withReason = (command: Command): Command => command.option(...reasonOption)

export const withRequiredReason = (command: Command): Command => command.requiredOption(...reasonOption)

/** Asks for a missing reason where a terminal is attached. Changes that move money refuse an empty reason. */
export async function promptReason({ reason }: ReasonOption): Promise<AuditNote> {
  if (reason !== undefined || !process.stdin.isTTY) return toAuditNote({ reason: reason ?? '' })
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return toAuditNote({ reason: await prompt.question('why? ') })
  } finally {
    prompt.close()
  }
}

/** For changes that move no money: a missing reason is stored as a dash. */
export const toAuditNote = ({ reason = '-' }: ReasonOption): AuditNote => ({ actor: userInfo().username, reason })

/** Runs a change and the record of it in one transaction. */
export function withAuditLog<T>(
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
