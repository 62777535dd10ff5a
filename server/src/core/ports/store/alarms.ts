/** Conditions that an operator must see. One row per subject, until it is cleared. */
export interface AlarmStore {
  list(
    limit: number,
  ): Promise<readonly { subject: string; alarm: string; detail: Record<string, unknown>; raisedAt: Date }[]>
  raise(subject: string, alarm: string, detail: Record<string, unknown>): Promise<void>
  clear(...subjects: readonly string[]): Promise<void>
}
