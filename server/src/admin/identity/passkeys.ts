import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { refused } from '../../core/services/audit-note.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import type { Passkey } from '../ports/operators.ts'
import type { LoginAttempt, Session } from '../ports/sessions.ts'
import { recordOwn } from './account.ts'
import { isDeviceOf, openDevices } from './devices.ts'
import { beginAttempt, type Client, type IdentityDeps, type LoggedIn, loginFailed, openSession } from './log-in.ts'

/** The site that the passkeys belong to. */
export type Site = Readonly<{ rpId: string; origins: readonly string[] }>
export type PasskeyDeps = IdentityDeps & Readonly<{ site: Site }>

const CHALLENGE_MS = 5 * 60_000
const PASSKEYS_MAX = 20

/** Loaded with the first passkey: parsers of certificates are a tenth of the modules of a start. */
const webauthn = () => import('@simplewebauthn/server')

type Asked = Readonly<{ challengeId: string; options: Record<string, unknown> }>

const ask = async (
  { store }: PasskeyDeps,
  operatorId: string | null,
  options: Readonly<{ challenge: string }>,
): Promise<Asked> => ({
  challengeId: await store.operators.addChallenge(options.challenge, operatorId, CHALLENGE_MS),
  options: { ...options },
})

/** Discoverable credentials with user verification: such a passkey is two factors, and names its operator. */
export async function askPasskey(deps: PasskeyDeps, operator: Readonly<{ id: string; login: string }>): Promise<Asked> {
  const existing = await deps.store.operators.passkeysOf(operator.id)
  if (existing.length >= PASSKEYS_MAX) throw refused(`an operator has at most ${PASSKEYS_MAX} passkeys`)
  const { generateRegistrationOptions } = await webauthn()
  const options = await generateRegistrationOptions({
    rpName: 'Swapyard',
    rpID: deps.site.rpId,
    userName: operator.login,
    userID: new Uint8Array(Buffer.from(operator.id)),
    attestationType: 'none',
    excludeCredentials: existing.map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return ask(deps, operator.id, options)
}

type Answer = Readonly<{ challengeId: string; response: Record<string, unknown> }>

export async function addPasskey(
  deps: PasskeyDeps,
  { operatorId, login }: Pick<Session, 'operatorId' | 'login'>,
  { challengeId, response, name }: Answer & Readonly<{ name: string }>,
): Promise<void> {
  const { store, site } = deps
  const expectedChallenge = await store.operators.takeChallenge(challengeId, operatorId)
  if (expectedChallenge === null) throw refused('the challenge is unknown or expired: ask for new options')
  const { verifyRegistrationResponse } = await webauthn()
  const verified = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON,
    ...{ expectedChallenge, expectedOrigin: [...site.origins], expectedRPID: site.rpId, requireUserVerification: true },
  }).catch(() => null)
  if (!verified?.verified) throw refused('the answer of the authenticator is not valid for this site')
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential
  const passkey = { id, operatorId, publicKey: Buffer.from(publicKey), counter, transports, name }
  await store.transaction(async (tx) => {
    if (!(await tx.operators.addPasskey(passkey))) throw refused('this passkey exists')
    await recordOwn(tx, { login }, { act: 'passkey add', detail: { passkey: id, name } })
  })
}

export async function askPasskeyLogin(deps: PasskeyDeps): Promise<Asked> {
  const { generateAuthenticationOptions } = await webauthn()
  return ask(deps, null, await generateAuthenticationOptions({ rpID: deps.site.rpId, userVerification: 'required' }))
}

/** Of an operator who is logged in: only its own passkeys answer. */
export async function askPasskeyConfirmation(deps: PasskeyDeps, operatorId: string): Promise<Asked> {
  const own = await deps.store.operators.passkeysOf(operatorId)
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({
    rpID: deps.site.rpId,
    userVerification: 'required',
    allowCredentials: own.map(({ id }) => ({ id })),
  })
  return ask(deps, operatorId, options)
}

export async function logInByPasskey(deps: PasskeyDeps, answer: Answer, client: Client): Promise<LoggedIn> {
  const succeed = await beginAttempt(deps, await toAttempt(deps, client))
  const passkey = await verify(deps, null, answer)
  const operator = passkey && (await deps.store.operators.findById(passkey.operatorId))
  if (!operator || operator.disabled || operator.passwordHash === null) throw loginFailed()
  await succeed()
  return openSession(deps, operator, client)
}

/** The passkey names its operator, so a browser of any operator has a count of its own. */
async function toAttempt({ store, secrets, now }: PasskeyDeps, { devices, ip }: Client): Promise<LoginAttempt> {
  for (const device of openDevices(secrets, devices, now())) {
    const operator = await store.operators.findById(device.operatorId)
    if (operator && isDeviceOf(device, operator)) return { by: 'device', device: device.id }
  }
  return { by: 'passkey', network: callerNetwork(ip) }
}

/** Whether a passkey of this operator answered. */
export async function isConfirmedByPasskey(deps: PasskeyDeps, operatorId: string, answer: Answer): Promise<boolean> {
  const passkey = await verify(deps, operatorId, answer)
  return passkey?.operatorId === operatorId
}

async function verify(
  { store, site }: PasskeyDeps,
  operatorId: string | null,
  { challengeId, response }: Answer,
): Promise<Passkey | null> {
  const expectedChallenge = await store.operators.takeChallenge(challengeId, operatorId)
  const { id } = response
  const passkey = typeof id === 'string' ? await store.operators.findPasskey(id) : null
  if (expectedChallenge === null || passkey === null) return null
  const { verifyAuthenticationResponse } = await webauthn()
  const verified = await verifyAuthenticationResponse({
    response: response as unknown as AuthenticationResponseJSON,
    ...{ expectedChallenge, expectedOrigin: [...site.origins], expectedRPID: site.rpId, requireUserVerification: true },
    credential: {
      id: passkey.id,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
      transports: [...passkey.transports] as AuthenticatorTransport[],
    },
  }).catch(() => null)
  if (!verified?.verified) return null
  await store.operators.usePasskey(passkey.id, verified.authenticationInfo.newCounter)
  return passkey
}
