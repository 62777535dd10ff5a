import type { OperatorRole } from '@swapyard/schema'

/** An identity. `totpSecret` is encrypted. */
export type Operator = Readonly<{
  id: string
  login: string
  role: OperatorRole
  /** Null until the invitation is accepted. */
  passwordHash: string | null
  totpSecret: Buffer | null
  disabled: boolean
  passkeys: number
  /** A hash of password, authenticator app, passkeys and recovery codes: another one after each change of them. */
  credentials: string
}>

export type ListedOperator = Readonly<{
  login: string
  role: OperatorRole
  disabled: boolean
  accepted: boolean
  authenticator: boolean
  passkeys: number
  createdBy: string
  createdAt: Date
  lastLoginAt: Date | null
}>

export type Invitation = Readonly<{ operatorId: string; login: string; role: OperatorRole; totpSecret: Buffer }>

export type NewInvitation = Readonly<{
  hash: Buffer
  totpSecret: Buffer
  createdBy: string
  lifetimeMs: number
}>

export type Acceptance = Readonly<{
  passwordHash: string
  totpSecret: Buffer
  totpStep: number
  recoveryHashes: readonly Buffer[]
}>

export type Passkey = Readonly<{
  id: string
  operatorId: string
  publicKey: Buffer
  counter: number
  transports: readonly string[]
}>

export type ListedPasskey = Readonly<{ id: string; name: string; createdAt: Date; lastUsedAt: Date | null }>

export interface OperatorStore {
  find(login: string): Promise<Operator | null>
  findById(id: string): Promise<Operator | null>
  list(): Promise<readonly ListedOperator[]>
  /** For the audit log, without secrets. */
  row(login: string): Promise<Record<string, unknown> | null>
  /** Null if the login exists. */
  add(operator: Readonly<{ login: string; role: OperatorRole; createdBy: string }>): Promise<string | null>
  setRole(login: string, role: OperatorRole): Promise<boolean>
  setDisabled(login: string, disabled: boolean): Promise<boolean>
  /** Removes password, second factors and recovery codes, and ends the sessions. */
  reset(id: string): Promise<void>
  setPassword(id: string, passwordHash: string): Promise<void>
  noteLogin(id: string): Promise<void>
  /** False if this code, or a later one, was accepted before. */
  takeTotpStep(id: string, step: number): Promise<boolean>
  takeRecoveryCode(id: string, hash: Buffer): Promise<boolean>
  /** Replaces all. */
  setRecoveryCodes(id: string, hashes: readonly Buffer[]): Promise<void>
  /** Locks the row. */
  lock(id: string): Promise<void>

  invite(operatorId: string, invitation: NewInvitation): Promise<void>
  findInvitation(hash: Buffer): Promise<Invitation | null>
  /** False if the invitation was used or has expired. */
  accept(hash: Buffer, acceptance: Acceptance): Promise<boolean>

  passkeysOf(operatorId: string): Promise<readonly Passkey[]>
  findPasskey(id: string): Promise<Passkey | null>
  addPasskey(passkey: Passkey & Readonly<{ name: string }>): Promise<boolean>
  listPasskeys(operatorId: string): Promise<readonly ListedPasskey[]>
  /** Returns its name; null if the operator has no such passkey. */
  removePasskey(operatorId: string, id: string): Promise<string | null>
  usePasskey(id: string, counter: number): Promise<void>
  addChallenge(challenge: string, operatorId: string | null, lifetimeMs: number): Promise<string>
  /** Once. Null if this operator has no such challenge, or it has expired. */
  takeChallenge(id: string, operatorId: string | null): Promise<string | null>
}
