import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { AuditNote } from '../core/services/audit-note.ts'

export type ReasonOption = Readonly<{ reason?: string | undefined; preview?: boolean | undefined }>

const reasonOption = ['--reason <text>', 'why; stored in the audit log with your name'] as const
const previewOption = ['--preview', 'shows what the command would do, and changes nothing'] as const

/** The options of every command that changes something. */
export const withReason = (command: Command): Command => command.option(...reasonOption).option(...previewOption)

export const withRequiredReason = (command: Command): Command =>
  command.requiredOption(...reasonOption).option(...previewOption)

/** Asks for a missing reason where a terminal is attached. Changes that move money refuse a missing one. */
export async function promptReason(options: ReasonOption): Promise<AuditNote> {
  if (options.reason !== undefined || !process.stdin.isTTY) return toAuditNote(options)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return toAuditNote({ reason: await prompt.question('why? ') })
  } finally {
    prompt.close()
  }
}

/** For changes that move no money: a missing reason is stored as a dash. */
export const toAuditNote = ({ reason = '-' }: ReasonOption): AuditNote => ({
  actor: userInfo().username,
  reason: reason === '' ? '-' : reason,
})
