import { adminSessionRoutes as routes } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerNetwork } from '../../lib/ip-address.ts'
import { changePassword, endSession, removePasskey, renewRecoveryCodes } from '../identity/account.ts'
import { makeDevice } from '../identity/devices.ts'
import type { Guesser } from '../identity/guess-queue.ts'
import { acceptInvitation, readInvitation } from '../identity/invitations.ts'
import { beginAttempt, type Client, type LoggedIn, logIn, loginFailed, takeSecondFactor } from '../identity/log-in.ts'
import {
  addPasskey,
  askPasskey,
  askPasskeyConfirmation,
  askPasskeyLogin,
  isConfirmedByPasskey,
  logInByPasskey,
} from '../identity/passkeys.ts'
import { admitGuess, isPassword, requireStrongPassword } from '../identity/passwords.ts'
import { csrfTokenOf, hashToken } from '../identity/tokens.ts'
import type { SessionKind } from '../ports/sessions.ts'
import {
  CONFIRMED_MS,
  readDevices,
  requireConfirmed,
  sessionRequired,
  setCookie,
  setDevice,
  type Visitor,
} from './authenticate-operator.ts'
import { type AdminContext, mountRoute, visitorOf } from './mount-route.ts'

type Body<Name extends string> = Readonly<Record<Name, string>>

const bodyOf = <Shape>(request: FastifyRequest): Shape => request.body as Shape

const clientOf = ({ settings }: AdminContext, request: FastifyRequest, reply: FastifyReply): Client => ({
  ip: request.ip,
  userAgent: request.headers['user-agent'] ?? '',
  kind: bodyOf<Readonly<{ kind?: SessionKind }>>(request).kind ?? 'cookie',
  devices: readDevices(request, settings),
  signal: signalOf(reply),
})

/** Aborted when the connection ends. Fastify's own signal is that of the request, which closes once its body was read. */
function signalOf(reply: FastifyReply): AbortSignal {
  const connection = new AbortController()
  reply.raw.once('close', () => connection.abort())
  return connection.signal
}

/** Logins, sessions, second factors and decisions about requests. */
export function mountSessions(context: AdminContext): void {
  mountLogins(context)
  mountInvitations(context)
  mountOwnSession(context)
  mountPasskeys(context)
  mountRequests(context)
}

function presentSession({ twoPersons }: AdminContext, { session, token }: Visitor) {
  const { login, role, hasSecondFactor, expiresAt, confirmedAt, kind } = session
  return {
    ...{ login, role, csrf: csrfTokenOf(token), token: kind === 'bearer' ? token : null },
    ...{ expiresAt, confirmedUntil: new Date(confirmedAt.getTime() + CONFIRMED_MS), twoPersons, hasSecondFactor },
  }
}

async function answerSession(context: AdminContext, token: string) {
  const { lookUps, settings } = context
  const session = await lookUps.find(hashToken(token), settings.idleMs)
  if (session === null) throw sessionRequired()
  return presentSession(context, { session, token })
}

/** Sets the cookies of a new session in a browser, which alone has a device. */
function answerLogin(context: AdminContext, reply: FastifyReply, { token, device }: LoggedIn) {
  if (device !== null) {
    setCookie(reply, context.settings, token)
    setDevice(reply, context.settings, device)
  }
  return answerSession(context, token)
}

/** After a change of its operator's credentials, the browser is known by a new cookie. */
async function renewDevice(
  { identity, settings }: AdminContext,
  reply: FastifyReply,
  { session }: Visitor,
): Promise<void> {
  const operator = session.kind === 'cookie' ? await identity.store.operators.findById(session.operatorId) : null
  if (operator) setDevice(reply, settings, makeDevice(identity.secrets, operator, identity.now()))
}

function mountLogins(context: AdminContext): void {
  const { identity } = context
  mountRoute(context, routes.logIn, async (request, reply) => {
    const { login, password, code = null } = bodyOf<Body<'login' | 'password'> & { code?: string }>(request)
    return answerLogin(
      context,
      reply,
      await logIn(identity, { login, password, code }, clientOf(context, request, reply)),
    )
  })
  mountRoute(context, routes.askPasskeyLogin, () => askPasskeyLogin(identity))
  mountRoute(context, routes.logInByPasskey, async (request, reply) => {
    return answerLogin(
      context,
      reply,
      await logInByPasskey(identity, bodyOf(request), clientOf(context, request, reply)),
    )
  })
}

function mountInvitations(context: AdminContext): void {
  const { identity } = context
  mountRoute(context, routes.readInvitation, async (request) => {
    const { login, role, totpUri } = await readInvitation(identity, bodyOf<Body<'token'>>(request).token)
    return { login, role, totpUri }
  })
  mountRoute(context, routes.acceptInvitation, (request) => acceptInvitation(identity, bodyOf(request)))
}

function mountOwnSession(context: AdminContext): void {
  const { identity, settings } = context
  const { sessions, operators } = identity.store
  mountRoute(context, routes.readSession, (request) => presentSession(context, visitorOf(request)))
  mountRoute(context, routes.confirmSession, async (request, reply) => {
    const { session, token } = visitorOf(request)
    const { code = null, password = null } = bodyOf<{ code?: string; password?: string }>(request)
    await attempt(context, request, reply, async (guesser) => {
      const operator = await operators.findById(session.operatorId)
      if (operator === null) return false
      // Without a second factor, which the sandbox permits, the password is asked for again.
      const hasFactor = operator.totpSecret !== null || operator.passkeys > 0
      if (!hasFactor && !(await isPassword(password ?? '', operator.passwordHash, guesser))) return false
      return takeSecondFactor(identity, operator, code)
    })
    await sessions.confirm(session.id)
    return answerSession(context, token)
  })
  mountRoute(context, routes.logOut, async (request, reply) => {
    const { session } = visitorOf(request)
    await sessions.revoke(session.id, session.operatorId)
    if (session.kind === 'cookie') setCookie(reply, settings, '')
    return { ok: true }
  })
  mountRoute(context, routes.endSession, async (request) => {
    await endSession(identity, visitorOf(request).session, bodyOf(request))
    return { ok: true }
  })
  mountRoute(context, routes.changePassword, async (request, reply) => {
    const { session } = visitorOf(request)
    requireConfirmed(session)
    const { password, newPassword } = bodyOf<Body<'password' | 'newPassword'>>(request)
    await attempt(context, request, reply, async (guesser) => {
      const operator = await operators.findById(session.operatorId)
      return isPassword(password, operator?.passwordHash ?? null, guesser)
    })
    requireStrongPassword(newPassword, session.login)
    await changePassword(identity, session, newPassword)
    await renewDevice(context, reply, visitorOf(request))
    return { ok: true }
  })
  mountRoute(context, routes.renewRecoveryCodes, async (request, reply) => {
    const { session } = visitorOf(request)
    requireConfirmed(session)
    const renewed = await renewRecoveryCodes(identity, session)
    await renewDevice(context, reply, visitorOf(request))
    return renewed
  })
}

/** Slowed down like a login: a stolen session must not try all codes. */
function attempt(
  { identity }: AdminContext,
  request: FastifyRequest,
  reply: FastifyReply,
  check: (guesser: Guesser) => Promise<boolean>,
): Promise<void> {
  const { session } = visitorOf(request)
  const guesser = { isKnown: true, signal: signalOf(reply) }
  return admitGuess(guesser, async () => {
    const { operatorId } = session
    const succeed = await beginAttempt(identity, { by: 'session', operatorId, network: callerNetwork(request.ip) })
    if (!(await check(guesser))) throw loginFailed()
    await succeed()
  })
}

function mountPasskeys(context: AdminContext): void {
  const { identity } = context
  mountRoute(context, routes.askPasskey, (request) => {
    const { session } = visitorOf(request)
    requireConfirmed(session)
    return askPasskey(identity, { id: session.operatorId, login: session.login })
  })
  mountRoute(context, routes.addPasskey, async (request, reply) => {
    const { session } = visitorOf(request)
    requireConfirmed(session)
    await addPasskey(identity, session, bodyOf(request))
    await renewDevice(context, reply, visitorOf(request))
    return { ok: true }
  })
  mountRoute(context, routes.removePasskey, async (request, reply) => {
    const { session } = visitorOf(request)
    requireConfirmed(session)
    await removePasskey(identity, session, bodyOf<Body<'id'>>(request).id)
    await renewDevice(context, reply, visitorOf(request))
    return { ok: true }
  })
  mountRoute(context, routes.askPasskeyConfirmation, (request) =>
    askPasskeyConfirmation(identity, visitorOf(request).session.operatorId),
  )
  mountRoute(context, routes.confirmByPasskey, async (request, reply) => {
    const { session, token } = visitorOf(request)
    await attempt(context, request, reply, () => isConfirmedByPasskey(identity, session.operatorId, bodyOf(request)))
    await identity.store.sessions.confirm(session.id)
    return answerSession(context, token)
  })
}

function mountRequests(context: AdminContext): void {
  const { carryOut } = context
  mountRoute(context, routes.approveRequest, (request) => {
    const { session } = visitorOf(request)
    const { id, preview = false } = bodyOf<{ id: string; preview?: boolean }>(request)
    if (!preview) requireConfirmed(session)
    return carryOut.approve(id, session, preview)
  })
  mountRoute(context, routes.rejectRequest, async (request) => {
    const { id, reason } = bodyOf<Body<'id' | 'reason'>>(request)
    await carryOut.reject(id, reason, visitorOf(request).session)
    return { ok: true }
  })
}
