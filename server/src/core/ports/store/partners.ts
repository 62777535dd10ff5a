import type { AssetId } from '../../domain/asset.ts'
import type { Partner, Scope } from '../../domain/partner.ts'

/** A key as it is stored: what it allows, and the HMACs of its live secrets. */
export type StoredKey = Readonly<{
  keyId: string
  partner: Partner
  scopes: ReadonlySet<Scope>
  ipAllowList: readonly string[]
  secrets: readonly Readonly<{ hmac: Buffer; expiresAt: Date | null }>[]
}>

export type NewPartner = Readonly<{
  name: string
  feeBps: number
  openExchangesMax: number
  rateLimitPerMinute: number
  strict: boolean
}>

export type PartnerChange = Readonly<Partial<Omit<NewPartner, 'name'>>>
export type KeyChange = Readonly<{ scopes?: readonly Scope[]; ipAllowList?: readonly string[] }>

/** A key as it is shown: never with a secret. */
export type ListedKey = Readonly<{
  keyId: string
  scopes: readonly Scope[]
  ipAllowList: readonly string[]
  createdBy: string
  /** When its last secret ends; null = by itself never. */
  expiresAt: Date | null
  revoked: boolean
  /** To the minute. */
  lastUsedAt: Date | null
}>

/** `lifetimeMs`: after which its secret ends by itself; without it never. */
export type NewKey = Readonly<{
  keyId: string
  hmac: Buffer
  scopes: readonly Scope[]
  ipAllowList: readonly string[]
  createdBy: string
  lifetimeMs?: number
}>

export interface PartnerStore {
  /** null where there is no such key, or it was revoked. */
  findKey(keyId: string): Promise<StoredKey | null>
  touchKey(keyId: string): Promise<void>
  /** null where the name is taken. */
  add(partner: NewPartner): Promise<string | null>
  /** Changes what is given; false where there is no such partner. */
  set(name: string, change: PartnerChange): Promise<boolean>
  list(): Promise<readonly (Partner & Readonly<{ keys: readonly ListedKey[] }>)[]>
  setSuspended(name: string, suspended: boolean): Promise<boolean>
  setRecipient(name: string, assetId: AssetId, address: string, memo: string | null): Promise<boolean>
  readonly keys: KeyStore
}

export interface KeyStore {
  add(partnerName: string, key: NewKey): Promise<boolean>
  /** A second secret beside the first, which ends after the overlap. */
  rotate(keyId: string, hmac: Buffer, overlapMs: number, lifetimeMs?: number): Promise<boolean>
  /** Changes what is given; false where no live key has the id. */
  set(keyId: string, change: KeyChange): Promise<boolean>
  revoke(keyId: string): Promise<boolean>
}
