import { AppError } from '../domain/errors.ts'

/** Who changes something and why. It is stored in the audit log with the change. */
export type AuditNote = Readonly<{ actor: string; reason: string }>

/** A request that an operator has to correct. The command line and the console show the message. */
export const refused = (message: string) => new AppError('VALIDATION_ERROR', message)

/** What the operator wants to decide does not need a decision, or needs it no longer. */
export const notDecidable = (message: string) => new AppError('NOT_DECIDABLE', message)

const REASON_CHARACTERS_MIN = 3

/** Where money depends on the change, the reason must be readable later: a dash is not a reason. */
export function requireReason({ reason }: AuditNote): void {
  if ((reason.match(/[\p{L}\p{N}]/gu) ?? []).length < REASON_CHARACTERS_MIN)
    throw refused(`a reason of at least ${REASON_CHARACTERS_MIN} letters or digits is required: --reason <text>`)
}
