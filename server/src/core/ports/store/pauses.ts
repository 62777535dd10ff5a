/** Since when, why and by whom a scope is paused. */
export type Pause = Readonly<{ scope: string; reason: string; actor: string; at: Date }>

/**
 * Paused scopes: `all`, `payouts:all`, `network:<id>`, `payouts:<id>`, `asset:<id>` or `partner:<id>`; of routes `dex:<name>@<network>`,
 * `pool:<id>@<network>` or `token:<address>@<network>`.
 */
export interface PauseStore {
  list(): Promise<readonly { scope: string; reason: string }[]>
  /** The paused ones of these scopes. Inside a transaction, `waitForSigners` waits from this read until the commit (I-25). */
  active(scopes: readonly string[]): Promise<readonly string[]>
  /**
   * Pauses without waiting: signatures that begin after the commit see it. A wait would delay the pause, and a wait that times out
   * would undo it with the alarm of its transaction (M23).
   */
  pause(scope: string, reason: string, actor: string): Promise<void>
  /** As `pause`, unless the scope is paused already: an earlier pause keeps its reason and its actor. */
  ensurePaused(scope: string, reason: string, actor: string): Promise<void>
  /** Waits for signatures that began before. Throws OVERLOADED if they take longer than a lock may; may be repeated. */
  waitForSigners(): Promise<void>
  /** Ends a pause, and returns it; null = the scope was not paused. `by`: only a pause of this actor ends. */
  resume(scope: string, by?: string): Promise<Pause | null>
}
