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
export type FeeAddress = Readonly<{
  network: string
  /** Null = none is in effect. */
  address: string | null
  /** Waits, and is in effect from then on. */
  next: Readonly<{ address: string; from: string }> | null
}>
export type MonthlyPayout = Recipient & Readonly<{ minimum: string; convertsOthers: boolean }>
export type Partner = Omit<AdminRow<'partners'>, 'keys' | 'recipients' | 'feeAddresses' | 'monthlyPayouts'> &
  Readonly<{
    keys: readonly Key[]
    recipients: readonly Recipient[]
    feeAddresses: readonly FeeAddress[]
    monthlyPayouts: readonly MonthlyPayout[]
  }>

/** The schema leaves the members of these lists open: server/src/admin/reads/service-reads.ts writes them. */
export const readPartner = (row: AdminRow<'partners'>): Partner => row as unknown as Partner
