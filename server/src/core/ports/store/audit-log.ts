export type OperatorAct = Readonly<{
  actor: string
  act: string
  subject: string
  reason: string
  detail?: Record<string, unknown>
  /** State before and after; null = the row did not exist, or was removed. */
  before?: Record<string, unknown> | null
  after?: Record<string, unknown> | null
}>

/** An action as the operator reads it. */
export type ListedAct = Required<OperatorAct> & Readonly<{ id: string; at: Date }>

/** A stored action. `fields` are the texts that its hash covers. */
export type AuditLogEntry = Readonly<{ id: string; previous: string; hash: string; fields: readonly string[] }>

/** The append-only, hash-chained log of operator actions (I-28). */
export interface AuditLog {
  record(act: OperatorAct): Promise<void>
  /** Actions after this id, in order. */
  after(id: bigint, limit: number): Promise<readonly AuditLogEntry[]>
  /** The newest actions, the newest first. */
  list(limit: number): Promise<readonly ListedAct[]>
}
