import { AppError } from '../../core/domain/errors.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import type { AdminStore } from '../ports/admin-store.ts'
import type { Operator } from '../ports/operators.ts'
import type { SessionKind } from '../ports/sessions.ts'
import { hashRecoveryCode, stepOfCode } from './one-time-codes.ts'
import { isPassword } from './passwords.ts'
import type { SecretBox } from './secret-box.ts'
import { createToken, hashToken } from './tokens.ts'

export type IdentityDeps = Readonly<{
  store: AdminStore
  box: SecretBox
  /** False in the sandbox only: an operator without a second factor may log in. */
  requiresSecondFactor: boolean
  sessionMs: number
  now(): number
}>

export type Client = Readonly<{ ip: string; userAgent: string; kind: SessionKind }>

/** The same answer for every failure: it does not say which part is wrong, nor whether the login exists. */
export const loginFailed = () => new AppError('LOGIN_FAILED', 'the login, the password or the second factor is wrong')

export async function beginAttempt({ store }: IdentityDeps, login: string, ip: string): Promise<() => Promise<void>> {
  const keys = { login: login.toLowerCase(), network: callerNetwork(ip) }
  const waitSeconds = await store.logins.begin(keys)
  if (waitSeconds > 0)
    throw new AppError('RATE_LIMIT_EXCEEDED', 'too many failed logins: wait and try again', {
      retryAfterSeconds: waitSeconds,
    })
  return () => store.logins.succeed(keys)
}

/** Logs in by password and second factor. Returns the token of a new session. */
export async function logIn(
  deps: IdentityDeps,
  { login, password, code }: Readonly<{ login: string; password: string; code: string | null }>,
  client: Client,
): Promise<string> {
  const succeed = await beginAttempt(deps, login, client.ip)
  const operator = await deps.store.operators.find(login.toLowerCase())
  const isRight = await isPassword(password, operator?.passwordHash ?? null)
  if (operator === null || operator.disabled || !isRight) throw loginFailed()
  if (!(await takeSecondFactor(deps, operator, code))) throw loginFailed()
  await succeed()
  return openSession(deps, operator.id, client)
}

/** Uses up the code: a code of the authenticator app or a recovery code is accepted once. */
export async function takeSecondFactor(deps: IdentityDeps, operator: Operator, code: string | null): Promise<boolean> {
  const { totpSecret } = operator
  if (totpSecret === null && operator.passkeys === 0 && !deps.requiresSecondFactor) return true
  if (code === null) return false
  const secret = totpSecret === null ? null : deps.box.open(totpSecret)
  const step = secret === null ? null : stepOfCode(secret, code, deps.now())
  if (step !== null) return deps.store.operators.takeTotpStep(operator.id, step)
  return deps.store.operators.takeRecoveryCode(operator.id, hashRecoveryCode(code))
}

/** A new token at every login: one that was set before the login is never accepted. */
export async function openSession(
  { store, sessionMs }: IdentityDeps,
  operatorId: string,
  { ip, userAgent, kind }: Client,
): Promise<string> {
  const token = createToken()
  const session = { hash: hashToken(token), operatorId, kind, ip: callerNetwork(ip), userAgent, lifetimeMs: sessionMs }
  await store.sessions.add(session)
  await store.operators.noteLogin(operatorId)
  return token
}
