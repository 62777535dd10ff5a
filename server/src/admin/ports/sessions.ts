import type { OperatorRole } from '@swapyard/schema'

export type SessionKind = 'cookie' | 'bearer'

/** A valid session with its operator. */
export type Session = Readonly<{
  id: string
  operatorId: string
  login: string
  role: OperatorRole
  /** An authenticator app or a passkey. */
  hasSecondFactor: boolean
  kind: SessionKind
  expiresAt: Date
  confirmedAt: Date
  /** The clock of the database, by which the times are compared. */
  now: Date
}>

export type NewSession = Readonly<{
  hash: Buffer
  operatorId: string
  kind: SessionKind
  ip: string
  userAgent: string
  lifetimeMs: number
}>

export interface SessionStore {
  add(session: NewSession): Promise<void>
  /** Null if it does not exist, has ended, was idle for too long, or its operator is disabled. */
  find(hash: Buffer, idleMs: number): Promise<Session | null>
  confirm(id: string): Promise<void>
  /** `operatorId` null: of any operator. Returns the login of its operator; null if there is no such open session. */
  revoke(id: string, operatorId: string | null): Promise<string | null>
  revokeOthers(operatorId: string, keptId: string): Promise<void>
}

/**
 * What an attempt counts for. `device`: a browser in which the operator logged in, with a count of its own. `session`: an operator
 * confirms a session. `passkey`: names its operator only by its answer. `network`: from a network from which the operator logged
 * in before.
 */
export type LoginAttempt =
  | Readonly<{ by: 'device'; device: string }>
  | Readonly<{ by: 'session'; operatorId: string; network: string }>
  | Readonly<{ by: 'passkey'; network: string }>
  | Readonly<{ by: 'network' | 'stranger'; login: string; network: string }>

/** Failed logins over all processes. */
export interface LoginThrottle {
  /** Whether the operator logged in from this network before. */
  isKnownNetwork(login: string, network: string): Promise<boolean>
  /** Counts an attempt before the password is checked. Seconds to wait; 0 = it may be checked. What has to wait is not counted. */
  begin(attempt: LoginAttempt): Promise<number>
  /** Takes the attempt back. */
  succeed(attempt: LoginAttempt): Promise<void>
}
