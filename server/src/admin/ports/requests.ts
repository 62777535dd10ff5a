/** An action that waits for a second person. */
export type ActionRequest = Readonly<{
  id: string
  action: string
  arguments: Record<string, unknown>
  reason: string
  state: 'asked' | 'done' | 'failed' | 'rejected' | 'withdrawn'
  askedBy: string
  askedByLogin: string
  /** What the action found when it was asked for (`hashState`); null = an earlier version of the program stored none. */
  foundHash: Buffer | null
  isExpired: boolean
}>

export interface RequestStore {
  add(
    request: Pick<ActionRequest, 'action' | 'arguments' | 'reason' | 'askedBy' | 'foundHash'>,
    lifetimeMs: number,
  ): Promise<string>
  /** Locks the row. */
  lock(id: string): Promise<ActionRequest | null>
  decide(
    id: string,
    state: 'done' | 'failed' | 'rejected' | 'withdrawn',
    by: string,
    result: object | null,
  ): Promise<void>
}
