import type { AdminRow } from '@swapyard/schema'

export type Key = Readonly<{
  keyId: string
  scopes: readonly string[]
  ipAllowList: readonly string[]
  /** Of a publishable key; null = a secret key. */
  origins: readonly string[] | null
  createdBy: string
  expiresAt: string | null
  revoked: boolean
  lastUsedAt: string | null
}>
export type Recipient = Readonly<{ currency: string; address: string; memo: string | null }>
export type Partner = Omit<AdminRow<'partners'>, 'keys' | 'recipients'> &
  Readonly<{ keys: readonly Key[]; recipients: readonly Recipient[]; refundByLink?: boolean; email?: string | null }>

/** The schema leaves keys and recipients open: server/src/core/ports/store/partners.ts has their members. */
export const readPartner = (row: AdminRow<'partners'>): Partner => row as unknown as Partner
