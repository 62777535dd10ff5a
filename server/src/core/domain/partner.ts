import type { AssetId } from './asset.ts'

export const scopes = [
  'rates:read',
  'exchange:read',
  'exchange:create',
  'defi:build',
  'defi:send',
  'webhooks:manage',
] as const
export type Scope = (typeof scopes)[number]

/** Who calls: one API key of one partner, as authenticated. */
export type Partner = Readonly<{
  id: string
  name: string
  /** Basis points of the amount out, taken for the partner and credited to its balance. */
  feeBps: number
  suspended: boolean
  /** Open exchanges at once; each holds a deposit address. */
  openExchangesMax: number
  /** Requests per minute, in weighted units (status 1, quote 5, create 50). */
  rateLimitPerMinute: number
  /** Unknown body and query keys are refused rather than ignored. */
  strict: boolean
  /** Where proceeds go when a create names no address. */
  defaultRecipients: ReadonlyMap<AssetId, { address: string; memo: string | null }>
}>

/** What the key itself allows. */
export type Caller = Readonly<{ partner: Partner; keyId: string; scopes: ReadonlySet<Scope> }>
