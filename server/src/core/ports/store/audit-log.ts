export type OperatorAct = Readonly<{
  actor: string
  act: string
  subject: string
  reason: string
  detail?: Record<string, unknown>
  /** What it changed, as it was and as it is; null = it was not there, or is no more. */
  before?: Record<string, unknown> | null
  after?: Record<string, unknown> | null
}>

/** An act as it was written down, every field as the text that its hash was made of. */
export type AuditLogEntry = Readonly<{ id: string; previous: string; hash: string; fields: readonly string[] }>

/** The append-only, hash-chained log of operator actions (I-28). */
export interface AuditLog {
  record(act: OperatorAct): Promise<void>
  /** Actions after this id, in order. */
  after(id: bigint, limit: number): Promise<readonly AuditLogEntry[]>
}
