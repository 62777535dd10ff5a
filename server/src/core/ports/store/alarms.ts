/** Conditions that an operator must see. One row per subject, until it is cleared. */
export interface AlarmStore {
  list(
    limit: number,
  ): Promise<readonly { subject: string; alarm: string; detail: Record<string, unknown>; raisedAt: Date }[]>
  raise(subject: string, alarm: string, detail: Record<string, unknown>): Promise<void>
  clear(...subjects: readonly string[]): Promise<void>
  /** Clears all subjects that begin with the prefix, except these. `kept` has them without the prefix. */
  clearOthers(prefix: string, kept: readonly string[]): Promise<void>
}
