import type { OperatorRole } from '@swapyard/schema'
import type { FastifyInstance } from 'fastify'
import { Secret, TOTP, URI } from 'otpauth'
import { createAdminStore } from '../../src/adapters/postgres/admin/admin-store.ts'
import type { ActionDeps } from '../../src/admin/actions/action.ts'
import type { SessionSettings } from '../../src/admin/http/authenticate-operator.ts'
import { mountAdmin } from '../../src/admin/http/mount-admin.ts'
import { acceptInvitation, makeInvitation, readInvitation } from '../../src/admin/identity/invitations.ts'
import { createOperatorSecrets } from '../../src/admin/identity/operator-secrets.ts'
import type { PasskeyDeps } from '../../src/admin/identity/passkeys.ts'
import type { PasswordCost } from '../../src/admin/identity/passwords.ts'
import type { AdminStore } from '../../src/admin/ports/admin-store.ts'
import type { Live } from '../../src/admin/reads/read.ts'
import { createMaxFees } from '../../src/app/max-fees.ts'
import { emptyBook } from '../../src/core/domain/book.ts'
import type { Throttle } from '../../src/core/ports/throttle.ts'
import { openTestDatabase, type TestDatabase } from '../adapters/postgres/database.ts'
import { createTestApp, type LogLine } from '../core/http/app-for-tests.ts'
import { payeeMacs } from '../payee-macs.ts'

export const PASSWORD = 'a long enough phrase'
export const ORIGIN = 'https://admin.example'
const PEPPER = Buffer.from('a pepper for tests')
/** At the program's own cost, logins were two fifths of the processor time of these tests. */
const LOW_COST: PasswordCost = { N: 2 ** 10, r: 8, p: 1 }
const STEP_MS = 30_000

/** The clock of logins, which a test moves: a code is accepted once in its 30 seconds. */
export type Clock = { now: number }

export type Answer = Readonly<{
  status: number
  body: Record<string, unknown>
  cookies: readonly string[]
  headers: Record<string, unknown>
}>

/** The rows of a list. */
export const rowsOf = <Row = Readonly<Record<string, unknown>>>(answer: Answer | undefined): readonly Row[] =>
  (answer?.body['data'] ?? []) as readonly Row[]

export type Operator = Readonly<{
  login: string
  recoveryCodes: readonly string[]
  /** A code that was not used before. */
  code(): string
}>

/** The code of an authenticator app that has the secret of this `otpauth:` URI. */
export function codeOf(totpUri: string, now: number): string {
  const totp = URI.parse(totpUri)
  if (!(totp instanceof TOTP)) throw new Error(`${totpUri} has no codes by time`)
  return totp.generate({ timestamp: now })
}

/** Calls the API with one session. */
export type Caller = Readonly<{
  token: string
  get(path: string): Promise<Answer>
  post(path: string, body?: object): Promise<Answer>
}>

export type AdminServer = Readonly<{
  app: FastifyInstance
  test: TestDatabase
  store: AdminStore
  lines: readonly LogLine[]
  clock: Clock
  call(
    request: Readonly<{
      method: 'GET' | 'POST'
      path: string
      body?: object
      headers?: Record<string, string>
      ip?: string
    }>,
  ): Promise<Answer>
  /** An operator who has accepted an invitation. */
  addOperator(login: string, role: OperatorRole): Promise<Operator>
  /** A bearer session. */
  logIn(operator: Operator): Promise<Caller>
  close(): Promise<void>
}>

type Options = Readonly<{
  twoPersons?: boolean
  settings?: Partial<SessionSettings>
  deps?: Partial<ActionDeps>
  live?: Partial<Live>
  requiresSecondFactor?: boolean
  /** Where browsers reach it. */
  site?: PasskeyDeps['site']
  /** Mounts pages on the same server. */
  mount?: (app: FastifyInstance) => void
  throttle?: Throttle
  /** Default: a low one. */
  passwordCost?: PasswordCost
}>

/** The admin API on a database of its own. */
export async function openAdminServer(options: Options = {}): Promise<AdminServer> {
  const test = await openTestDatabase()
  const { app, lines } = createTestApp()
  const store = createAdminStore(test.database, payeeMacs)
  const clock: Clock = { now: Date.now() }
  const secrets = createOperatorSecrets([PEPPER])
  const identity = {
    ...{ store, secrets, requiresSecondFactor: options.requiresSecondFactor ?? true, sessionMs: 3_600_000 },
    now: () => clock.now,
    site: options.site ?? { rpId: 'admin.example', origins: [ORIGIN] },
  }
  mountAdmin(app, {
    identity,
    deps: { ...depsForTests(), secrets, ...options.deps },
    live: { ...liveForTests(), ...options.live },
    settings: {
      ...{ cookie: '__Host-swapyard', isSecure: true, origins: [ORIGIN], allowedNetworks: [] },
      ...{ idleMs: 1_800_000, sessionMs: 3_600_000, ...options.settings },
    },
    ...{ twoPersons: options.twoPersons ?? true, throttle: options.throttle ?? null, publicUrl: ORIGIN },
  })
  options.mount?.(app)
  await app.ready()

  const call: AdminServer['call'] = async ({ method, path, body, headers = {}, ip = '192.0.2.1' }) => {
    const response = await app.inject({
      ...{ method, url: path, remoteAddress: ip },
      headers: { host: 'admin.example', ...headers },
      ...(body === undefined ? {} : { payload: body }),
    })
    const cookies = [response.headers['set-cookie'] ?? []].flat()
    return { status: response.statusCode, body: response.json(), cookies, headers: response.headers }
  }

  async function addOperator(login: string, role: OperatorRole): Promise<Operator> {
    const id = (await store.operators.add({ login, role, createdBy: 'test' })) ?? ''
    const { token, ...invitation } = makeInvitation(secrets)
    await store.operators.invite(id, { ...invitation, createdBy: 'test', lifetimeMs: 60_000 })
    const { secret } = await readInvitation(identity, token)
    const totp = new TOTP({ secret: new Secret({ buffer: new Uint8Array(secret).buffer }) })
    const code = () => {
      clock.now += STEP_MS
      return totp.generate({ timestamp: clock.now })
    }
    const { recoveryCodes } = await acceptInvitation(
      identity,
      { token, password: PASSWORD, code: code() },
      options.passwordCost ?? LOW_COST,
    )
    return { login, recoveryCodes, code }
  }

  async function logIn({ login, code }: Operator): Promise<Caller> {
    const body = { login, password: PASSWORD, code: code(), kind: 'bearer' }
    const answer = await call({ method: 'POST', path: '/admin/v1/login', body })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    const token = String(answer.body['token'])
    const headers = { authorization: `Bearer ${token}` }
    return {
      token,
      get: (path) => call({ method: 'GET', path: `/admin/v1/${path}`, headers }),
      post: (path, sent = {}) => call({ method: 'POST', path: `/admin/v1/${path}`, body: sent, headers }),
    }
  }

  return {
    ...{ app, test, store, lines, clock, call, addOperator, logIn },
    async close() {
      await app.close()
      await test.close()
    },
  }
}

const depsForTests = (): Omit<ActionDeps, 'secrets'> => ({
  environment: 'sandbox',
  coldAddresses: [],
  outputs: { ready: 1 } as never,
  partnerDefaults: { feeBps: 0, openExchangesMax: 100, rateLimitPerMinute: 6_000 },
  pepper: PEPPER,
  addresses: () => new Map(),
  maxFeesOf: createMaxFees('sandbox'),
  encodingsOf: (text) => [...new Set([text, text.toLowerCase()])],
  isAllowed: async () => true,
  parseSwapAccount: () => null,
  parsePoolName: async (_network, _kind, text) => text,
  market: null,
  swaps: async () => ({ networks: new Map(), feeAddresses: new Map() }),
})

const liveForTests = (): Live => ({
  book: () => emptyBook({ bps: { stable: 1, major: 2, minor: 3 }, fixedRateExtraBps: 0 }),
  readiness: () => [],
  networks: [],
  endpoints: new Map(),
  tokens: () => [],
  pools: { states: () => [], list: async () => [] },
  publicUrl: ORIGIN,
  settings: { environment: 'sandbox' },
  now: Date.now,
})
