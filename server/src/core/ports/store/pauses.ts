/** Paused scopes: `all`, `payouts:all`, `network:<id>`, `payouts:<id>`, `asset:<id>` or `partner:<id>`. */
export interface PauseStore {
  list(): Promise<readonly { scope: string; reason: string }[]>
  /** The paused ones of these scopes. Inside a transaction, no pause can commit between this read and the commit (I-25). */
  active(scopes: readonly string[]): Promise<readonly string[]>
  pause(scope: string, reason: string, actor: string): Promise<void>
  resume(scope: string): Promise<void>
}
