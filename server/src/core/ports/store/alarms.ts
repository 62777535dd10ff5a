export type AlarmSeverity = 'critical' | 'warning' | 'info'

export type Alarm = Readonly<{
  subject: string
  severity: AlarmSeverity
  alarm: string
  detail: Record<string, unknown>
  raisedAt: Date
  acknowledgedBy: string | null
}>

/** `more`: on the last listed one of its kind and severity the number of older ones that are not listed; otherwise 0. */
export type ListedAlarm = Alarm & Readonly<{ more: number }>

/** `kind` is the subject before its first colon. */
export type AlarmCount = Readonly<{ kind: string; severity: AlarmSeverity; count: number }>

/** Conditions that an operator must see. One row per subject, until it is cleared. */
export interface AlarmStore {
  /**
   * The most severe first, then the newest: at most `perKind` of each kind and severity, so that many of one kind hide no other.
   * `kind`: only alarms of this kind.
   */
  list(perKind: number, kind?: string): Promise<readonly ListedAlarm[]>
  find(subject: string): Promise<Alarm | null>
  /** Number of unacknowledged alarms. */
  count(): Promise<readonly AlarmCount[]>
  acknowledge(subject: string, by: string): Promise<void>
  raise(subject: string, alarm: string, detail: Record<string, unknown>): Promise<void>
  clear(...subjects: readonly string[]): Promise<void>
  /** Clears all subjects that begin with the prefix, except these. `kept` has them without the prefix. */
  clearOthers(prefix: string, kept: readonly string[]): Promise<void>
  /** Clears all subjects that begin with one of the prefixes and that no process has raised for `quietMs` milliseconds. */
  clearUnseen(prefixes: readonly string[], quietMs: number): Promise<void>
}
