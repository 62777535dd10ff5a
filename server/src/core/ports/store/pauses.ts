/** What the operator has stopped: `all`, `network:<id>` or `asset:<id>`. */
export interface PauseStore {
  list(): Promise<readonly { scope: string; reason: string }[]>
  /** Those of these scopes that are paused. Inside a transaction no pause can commit between this read and the commit (I-25). */
  active(scopes: readonly string[]): Promise<readonly string[]>
  pause(scope: string, reason: string, actor: string): Promise<void>
  resume(scope: string): Promise<void>
}
