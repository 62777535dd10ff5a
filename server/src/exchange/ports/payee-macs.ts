import type { Destination } from './chain.ts'

/** What an authentication code covers. The names of the kinds keep one kind from standing for another. */
export type Payee = Readonly<{
  kind: 'recipient' | 'refund' | 'sender' | 'payout'
  fields: readonly (string | null)[]
}>

/**
 * Authentication codes of payees, made with a key that no database holds (I-39). A code is made where this program accepts
 * the payee. A payee that somebody wrote into a row has none, so it is never paid.
 */
export interface PayeeMacs {
  of(payee: Payee): string
  /** Compares in constant time. */
  isValid(payee: Payee, mac: string | null): boolean
}

/** The recipient of an exchange, named at the create. */
export const recipientPayee = (exchangeId: string, assetId: string, { address, memo }: Destination): Payee => ({
  kind: 'recipient',
  fields: [exchangeId, assetId, address, memo],
})

/** The refund address of an exchange, for every asset of its first network. */
export const refundPayee = (exchangeId: string, network: string, { address, memo }: Destination): Payee => ({
  kind: 'refund',
  fields: [exchangeId, network, address, memo],
})

/** The sender of a deposit, as the chain named it. */
export const senderPayee = (network: string, identity: string, sender: string): Payee => ({
  kind: 'sender',
  fields: [network, identity, sender],
})

type PayoutTerms = Readonly<{
  id: string
  purpose: string
  network: string
  assetId: string
  address: string
  memo: string | null
  units: bigint
  exchangeId: string | null
  depositId: string | null
  owedFrom?: string | null | undefined
}>

/** One payout, whole: it is paid to this payee, once, with this amount, for this deposit or from this account. */
export const payoutPayee = (terms: PayoutTerms): Payee => ({
  kind: 'payout',
  fields: [
    ...[terms.id, terms.purpose, terms.network, terms.assetId, terms.address, terms.memo, terms.units.toString()],
    ...[terms.exchangeId, terms.depositId, terms.owedFrom ?? null],
  ],
})
