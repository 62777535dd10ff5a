import { AppError } from '../domain/errors.ts'

/** Who says it, and why: written down with the act. */
export type AuditNote = Readonly<{ actor: string; reason: string }>

/** Said to the person at the command line. */
export const refused = (message: string) => new AppError('VALIDATION_ERROR', message)

/** Where money depends on it, a reason is a sentence that somebody can read later: a dash is none. */
export function requireReason({ reason }: AuditNote): void {
  if ((reason.match(/[\p{L}\p{N}]/gu) ?? []).length < 3)
    throw refused('say why: --reason <text>, of at least three letters')
}
