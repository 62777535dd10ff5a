import type { AssetId } from './asset.ts'

export const scopes = [
  'rates:read',
  'exchange:read',
  'exchange:create',
  'defi:build',
  'defi:send',
  'partner:read',
  'webhooks:manage',
  'fees:manage',
] as const
export type Scope = (typeof scopes)[number]

/** Of a new key: a scope that says where money goes is given by name alone. */
export const defaultScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'fees:manage')

/** A partner and its settings. */
export type Partner = Readonly<{
  id: string
  name: string
  /** Partner fee in basis points of the output amount, credited to the partner's balance. */
  feeBps: number
  suspended: boolean
  /** Limit of open exchanges; each holds a deposit address. */
  openExchangesMax: number
  /** Requests per minute, in weighted units (status 1, quote 5, create 50). */
  rateLimitPerMinute: number
  /** Unknown body and query members are rejected instead of ignored. */
  strict: boolean
  /** Refunds without a refund address go to the sender of the deposit, who may be a shared wallet of an exchange. */
  refundToSender: boolean
  /** Recipients for creates without an address. */
  defaultRecipients: ReadonlyMap<AssetId, { address: string; memo: string | null }>
}>

/** The authenticated API key of a request, with its partner and scopes. */
export type Caller = Readonly<{
  partner: Partner
  keyId: string
  scopes: ReadonlySet<Scope>
  /** Of a publishable key: the origins whose pages may use it. Absent: a secret key. */
  origins?: readonly string[]
}>

/** What a publishable key may do at most; the routes that it may call are marked. */
export const publishableScopes: readonly Scope[] = ['rates:read', 'exchange:read', 'exchange:create']

/** `http://localhost:*` and `http://127.0.0.1:*` match every port. All other origins match exactly. */
export function isOriginAllowed(origins: readonly string[], origin: string): boolean {
  const anyPort = origin.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1)):[0-9]{1,5}$/, '$1:*')
  return origins.includes(origin) || (anyPort !== origin && origins.includes(anyPort))
}
