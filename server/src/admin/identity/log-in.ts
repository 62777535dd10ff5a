import { AppError } from '../../core/domain/errors.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import type { AdminStore } from '../ports/admin-store.ts'
import type { Operator } from '../ports/operators.ts'
import type { LoginAttempt, SessionKind } from '../ports/sessions.ts'
import { isDeviceOf, makeDevice, openDevices } from './devices.ts'
import { hashRecoveryCode, stepOfCode } from './one-time-codes.ts'
import type { OperatorSecrets } from './operator-secrets.ts'
import { admitGuess, isPassword } from './passwords.ts'
import { createToken, hashToken } from './tokens.ts'

export type IdentityDeps = Readonly<{
  store: AdminStore
  secrets: OperatorSecrets
  /** False in the sandbox only: an operator without a second factor may log in. */
  requiresSecondFactor: boolean
  sessionMs: number
  now(): number
}>

/** `devices`: values of the cookies of devices. `signal` is aborted when the client disconnects. */
export type Client = Readonly<{
  ip: string
  userAgent: string
  kind: SessionKind
  devices: readonly string[]
  signal: AbortSignal
}>

/** What a login made: the token of a session, and for a browser the one of its device. */
export type LoggedIn = Readonly<{ token: string; device: string | null }>

/** The same answer for every failure: it does not say which part is wrong, nor whether the login exists. */
export const loginFailed = () => new AppError('LOGIN_FAILED', 'the login, the password or the second factor is wrong')

/** Counts an attempt. Returns what takes it back. */
export async function beginAttempt({ store }: IdentityDeps, attempt: LoginAttempt): Promise<() => Promise<void>> {
  const waitSeconds = await store.logins.begin(attempt)
  if (waitSeconds > 0)
    throw new AppError('RATE_LIMIT_EXCEEDED', 'too many failed logins: wait and try again', {
      retryAfterSeconds: waitSeconds,
    })
  return () => store.logins.succeed(attempt)
}

/** Logs in by password and second factor. */
export async function logIn(
  deps: IdentityDeps,
  { login, password, code }: Readonly<{ login: string; password: string; code: string | null }>,
  client: Client,
): Promise<LoggedIn> {
  const name = login.toLowerCase()
  const operator = await deps.store.operators.find(name)
  const attempt = await toAttempt(deps, name, operator, client)
  const guesser = { isKnown: attempt.by !== 'stranger', signal: client.signal }
  return admitGuess(guesser, async () => {
    const succeed = await beginAttempt(deps, attempt)
    const isRight = await isPassword(password, operator?.passwordHash ?? null, guesser)
    if (operator === null || operator.disabled || !isRight) throw loginFailed()
    if (!(await takeSecondFactor(deps, operator, code))) throw loginFailed()
    await succeed()
    return openSession(deps, operator, client)
  })
}

/** What a login counts for: the browser of this operator, a network that the operator used, or neither. */
async function toAttempt(
  { store, secrets, now }: IdentityDeps,
  login: string,
  operator: Operator | null,
  client: Client,
): Promise<LoginAttempt> {
  const device = operator && openDevices(secrets, client.devices, now()).find((one) => isDeviceOf(one, operator))
  if (device) return { by: 'device', device: device.id }
  const network = callerNetwork(client.ip)
  const isKnown = await store.logins.isKnownNetwork(login, network)
  return { by: isKnown ? 'network' : 'stranger', login, network }
}

/** Uses up the code: a code of the authenticator app or a recovery code is accepted once. */
export async function takeSecondFactor(deps: IdentityDeps, operator: Operator, code: string | null): Promise<boolean> {
  const { totpSecret } = operator
  if (totpSecret === null && operator.passkeys === 0 && !deps.requiresSecondFactor) return true
  if (code === null) return false
  const secret = totpSecret === null ? null : deps.secrets.open(totpSecret)
  const step = secret === null ? null : stepOfCode(secret, code, deps.now())
  if (step !== null) return deps.store.operators.takeTotpStep(operator.id, step)
  return deps.store.operators.takeRecoveryCode(operator.id, hashRecoveryCode(code))
}

/** A new token at every login: one that was set before the login is never accepted. */
export async function openSession(
  { store, secrets, sessionMs, now }: IdentityDeps,
  operator: Operator,
  { ip, userAgent, kind }: Client,
): Promise<LoggedIn> {
  const token = createToken()
  const owner = { operatorId: operator.id, kind, ip: callerNetwork(ip), userAgent }
  await store.sessions.add({ hash: hashToken(token), ...owner, lifetimeMs: sessionMs })
  await store.operators.noteLogin(operator.id)
  return { token, device: kind === 'cookie' ? makeDevice(secrets, operator, now()) : null }
}
