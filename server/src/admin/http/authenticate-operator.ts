import { timingSafeEqual } from 'node:crypto'
import { includesRole, type OperatorRole } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { isWithin } from '../../lib/ip-address.ts'
import { DEVICE_MS } from '../identity/devices.ts'
import { csrfTokenOf, hashToken } from '../identity/tokens.ts'
import type { Session, SessionStore } from '../ports/sessions.ts'

/** A second factor counts for actions that move money for this long. */
export const CONFIRMED_MS = 5 * 60_000

export type SessionSettings = Readonly<{
  /** `__Host-swapyard`, which browsers accept only with Secure; another name in the sandbox, which has no TLS. */
  cookie: string
  isSecure: boolean
  /** Origins whose pages may post. */
  origins: readonly string[]
  /** CIDR blocks; empty = any address. */
  allowedNetworks: readonly string[]
  idleMs: number
  sessionMs: number
}>

/** A session with its token, from which the CSRF token follows. */
export type Visitor = Readonly<{ session: Session; token: string }>

export const sessionRequired = () => new AppError('SESSION_REQUIRED', 'log in: there is no session, or it has ended')

/** The session of a bearer token, or else of the cookie. */
export async function authenticateOperator(
  request: FastifyRequest,
  findSession: SessionStore['find'],
  settings: SessionSettings,
): Promise<Visitor> {
  const { authorization } = request.headers
  const token = authorization === undefined ? readCookie(request, settings.cookie) : readBearer(authorization)
  const session = token === null ? null : await findSession(hashToken(token), settings.idleMs)
  // A token is used in the form for which it was made: one of a page never works without the CSRF checks.
  if (token === null || session?.kind !== (authorization === undefined ? 'cookie' : 'bearer')) throw sessionRequired()
  if (authorization === undefined && request.method !== 'GET' && request.method !== 'HEAD')
    requireSamePage(request, token, settings)
  return { session, token }
}

const readBearer = (header: string): string | null => /^Bearer ([A-Za-z0-9_-]{43})$/i.exec(header)?.[1] ?? null

const readCookies = ({ headers }: FastifyRequest, name: string): readonly string[] =>
  (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))

function readCookie(request: FastifyRequest, name: string): string | null {
  const found = readCookies(request, name)
  // Two cookies of one name: another site may have set one.
  return found.length === 1 && /^[A-Za-z0-9_-]{43}$/.test(found[0] ?? '') ? (found[0] ?? null) : null
}

/** The request comes from a page of this site, and the page knows the token of this session. */
function requireSamePage(request: FastifyRequest, token: string, settings: SessionSettings): void {
  requireOrigin(request, settings)
  const sent = Buffer.from(String(request.headers['x-swapyard-csrf'] ?? ''))
  const expected = Buffer.from(csrfTokenOf(token))
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected))
    throw new AppError('CSRF_TOKEN_INVALID', 'the header X-Swapyard-CSRF is not the one of this session')
}

/** Browsers send `Origin` with every POST; a program without a browser sends neither header. */
export function requireOrigin({ headers }: FastifyRequest, { origins }: Pick<SessionSettings, 'origins'>): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isForeign = origin === undefined ? site !== undefined && site !== 'same-origin' : !origins.includes(origin)
  if (isForeign) throw new AppError('CSRF_TOKEN_INVALID', 'this request comes from another site')
}

export function requireNetwork(
  { ip }: FastifyRequest,
  { allowedNetworks }: Pick<SessionSettings, 'allowedNetworks'>,
): void {
  if (allowedNetworks.length > 0 && !isWithin(ip, allowedNetworks))
    throw new AppError('IP_NOT_ALLOWED', 'the admin API is not used from this address')
}

export function requireRole({ role }: Session, least: OperatorRole): void {
  if (!includesRole(role, least)) throw new AppError('ROLE_REQUIRED', `this needs the role ${least}; yours is ${role}`)
}

export function requireConfirmed({ confirmedAt, now }: Session): void {
  if (now.getTime() - confirmedAt.getTime() > CONFIRMED_MS)
    throw new AppError('CONFIRMATION_REQUIRED', 'give a second factor again: POST /admin/v1/session/confirm')
}

type CookieSettings = Pick<SessionSettings, 'isSecure'>

function addCookie(reply: FastifyReply, text: string, ageMs: number, { isSecure }: CookieSettings): void {
  const secure = isSecure ? '; Secure' : ''
  reply.header('set-cookie', `${text}; Max-Age=${Math.floor(ageMs / 1000)}; HttpOnly; SameSite=Strict${secure}`)
}

export const setCookie = (reply: FastifyReply, settings: SessionSettings, token: string): void =>
  addCookie(reply, `${settings.cookie}=${token}; Path=/`, token === '' ? 0 : settings.sessionMs, settings)

/** A cookie of one path has no `__Host-`: one that another host of the domain sets is read, too, and then refused. */
const deviceCookie = ({ isSecure }: CookieSettings) =>
  isSecure ? '__Secure-swapyard-device' : 'swapyard-sandbox-device'

export const readDevices = (request: FastifyRequest, settings: CookieSettings): readonly string[] =>
  readCookies(request, deviceCookie(settings))

/** By it the browser is known at a later login. It is no session, and a logout keeps it. */
export const setDevice = (reply: FastifyReply, settings: CookieSettings, token: string): void =>
  addCookie(reply, `${deviceCookie(settings)}=${token}; Path=/admin/v1`, DEVICE_MS, settings)
