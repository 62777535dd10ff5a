import type { AssetId } from '../../domain/asset.ts'
import type { Partner, Scope } from '../../domain/partner.ts'

/** A stored key with its permissions and the HMACs of its valid secrets. */
export type StoredKey = Readonly<{
  keyId: string
  partner: Partner
  scopes: ReadonlySet<Scope>
  ipAllowList: readonly string[]
  /** Of a publishable key; null = a secret key. */
  origins: readonly string[] | null
  secrets: readonly Readonly<{ hmac: Buffer; expiresAt: Date | null }>[]
}>

export type NewPartner = Readonly<{
  name: string
  feeBps: number
  openExchangesMax: number
  rateLimitPerMinute: number
  strict: boolean
  refundToSender: boolean
  /** Address for e-mails to the partner; null = none. */
  email?: string | null
}>

export type PartnerChange = Readonly<Partial<Omit<NewPartner, 'name'>>> &
  Readonly<{
    /** Whether a payer may name a missing refund address by the tracking link. */
    refundByLink?: boolean
  }>
export type KeyChange = Readonly<{ scopes?: readonly Scope[]; ipAllowList?: readonly string[] }>

/** `lifetimeMs`: validity of its secret; absent = no end. */
export type NewKey = Readonly<{
  keyId: string
  hmac: Buffer
  scopes: readonly Scope[]
  ipAllowList: readonly string[]
  createdBy: string
  /** Makes it a publishable key of these origins. */
  origins?: readonly string[]
  lifetimeMs?: number
}>

export interface PartnerStore {
  /** null if the key does not exist or is revoked. */
  findKey(keyId: string): Promise<StoredKey | null>
  touchKey(keyId: string): Promise<void>
  /** null if the name exists. */
  add(partner: NewPartner): Promise<string | null>
  /** Changes the given fields. False if the partner does not exist. */
  set(name: string, change: PartnerChange): Promise<boolean>
  /** The id of the partner with this id or name; null if no partner has it. */
  findId(nameOrId: string): Promise<string | null>
  /** Whether payers of the partner may name a missing refund address by their tracking link. */
  allowsRefundByLink(partnerId: string): Promise<boolean>
  setSuspended(name: string, suspended: boolean): Promise<boolean>
  setRecipient(name: string, assetId: AssetId, address: string, memo: string | null): Promise<boolean>
  readonly keys: KeyStore
}

export interface KeyStore {
  add(partnerName: string, key: NewKey): Promise<boolean>
  /** Adds a second secret; the first one ends after the overlap. */
  rotate(keyId: string, hmac: Buffer, overlapMs: number, lifetimeMs?: number): Promise<boolean>
  /** Changes the given fields. False if no valid key has the id. */
  set(keyId: string, change: KeyChange): Promise<boolean>
  revoke(keyId: string): Promise<boolean>
}
