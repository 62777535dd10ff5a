import type { AssetId } from '../asset.ts'
import { type PayoutPurpose, staysInWallet } from '../payout-purpose.ts'
import type { Account } from './chart.ts'
import { type JournalEntry, journalEntry, reversalOf } from './journal.ts'

/* One builder per event. No other module builds account names, which `chart.ts` lists. */
const wallet: Account = 'asset:wallet'
const deposits: Account = 'asset:deposits'
const outgoing: Account = 'asset:outgoing'
const inventory: Account = 'equity:inventory'
const spread: Account = 'income:spread'
const suspense: Account = 'expense:suspense'
const stranded: Account = 'expense:stranded'
const capital: Account = 'equity:capital'

export const accounts = { wallet, deposits, outgoing, capital } as const

/** The operator's accounts: together, with the sign changed, what we hold of an asset beyond all that we owe. */
export const ownAccounts: readonly Account[] = [
  ...[capital, inventory, suspense, stranded],
  ...([spread, 'income:network-fee', 'income:dust', 'expense:network-fee'] as const),
]
export const exchangeAccount = (exchangeId: string): Account => `liability:exchange:${exchangeId}`
export const partnerAccount = (partnerId: string): Account => `liability:partner:${partnerId}`

/** Account of credited deposits: `deposits` until they are swept; `wallet` on networks that spend them directly. */
export type FundsLocation = 'wallet' | 'deposits'
const accountAt = (location: FundsLocation): Account => (location === 'wallet' ? wallet : deposits)

type Credit = Readonly<{
  depositId: string
  credits: number
  exchangeId: string
  assetId: AssetId
  units: bigint
  location: FundsLocation
}>

/** One posting about one credit of a deposit. */
function creditEntry(
  { depositId, credits, exchangeId, assetId, units }: Omit<Credit, 'location'>,
  name: string,
  event: string,
  accountsOf: Readonly<{ debit: Account; credit: Account }>,
): JournalEntry {
  return journalEntry(`deposit:${depositId}:${name}:${credits}`, event, exchangeId, [{ ...accountsOf, assetId, units }])
}

export const depositEntry = (deposit: Credit): JournalEntry =>
  creditEntry(deposit, 'credit', 'deposit', {
    debit: accountAt(deposit.location),
    credit: exchangeAccount(deposit.exchangeId),
  })

/** The deposit left the chain before a payout was signed. */
export const depositReversalEntry = (deposit: Credit): JournalEntry =>
  creditEntry(deposit, 'reverse', 'deposit reversed', {
    debit: exchangeAccount(deposit.exchangeId),
    credit: accountAt(deposit.location),
  })

/** The deposit left the chain after the payout was signed. The loss is booked to `expense:suspense` (I-6). */
export const depositLossEntry = (loss: Credit): JournalEntry =>
  creditEntry(loss, 'loss', 'deposit lost', { debit: suspense, credit: accountAt(loss.location) })

/** A deposit that was booked as a loss is on the chain again. */
export const depositRecoveryEntry = (deposit: Credit): JournalEntry =>
  creditEntry(deposit, 'recovery', 'deposit recovered', { debit: accountAt(deposit.location), credit: suspense })

/** The payout of a lost deposit was invalidated: nothing left, so the loss is reversed. */
export const depositLossReversalEntry = (loss: Omit<Credit, 'location'>): JournalEntry =>
  creditEntry(loss, 'unlost', 'deposit loss reversed', { debit: exchangeAccount(loss.exchangeId), credit: suspense })

/** A deposit that was booked as a loss returned with more units, or with fewer (`units` below 0), and no payout is signed. */
export function depositRecountEntry({ units, ...deposit }: Omit<Credit, 'location'>): JournalEntry {
  const owed = exchangeAccount(deposit.exchangeId)
  return units > 0n
    ? creditEntry({ ...deposit, units }, 'recount', 'deposit recounted', { debit: suspense, credit: owed })
    : creditEntry({ ...deposit, units: -units }, 'recount', 'deposit recounted', { debit: owed, credit: suspense })
}

export const unclaimed: Account = 'liability:unclaimed'
const lostAccount = (payoutId: string): Account => `liability:lost:${payoutId}`
const withdrawalAccount = (payoutId: string): Account => `liability:withdrawal:${payoutId}`

/** An entry about one credit of a transfer to a hot wallet that belongs to no exchange. */
type FundingEntry = (depositId: string, credits: number, assetId: AssetId, units: bigint) => JournalEntry

/** The operator funded a hot wallet. */
export const fundingEntry: FundingEntry = (depositId, credits, assetId, units) =>
  journalEntry(`deposit:${depositId}:funding:${credits}`, 'funding', null, [
    { debit: wallet, credit: capital, assetId, units },
  ])

/** The funding left the chain. */
export const fundingReversalEntry: FundingEntry = (depositId, credits, assetId, units) =>
  journalEntry(`deposit:${depositId}:unfunding:${credits}`, 'funding reversed', null, [
    { debit: capital, credit: wallet, assetId, units },
  ])

/** Coins at a hot wallet that belong to no exchange: in the wallet, but not ours. */
export const unownedFundingEntry: FundingEntry = (depositId, credits, assetId, units) =>
  journalEntry(`deposit:${depositId}:unclaimed:${credits}`, 'unclaimed', null, [
    { debit: wallet, credit: unclaimed, assetId, units },
  ])

export const unownedFundingReversalEntry: FundingEntry = (depositId, credits, assetId, units) =>
  journalEntry(`deposit:${depositId}:unclaimed:${credits}:reversed`, 'unclaimed, reversed', null, [
    { debit: unclaimed, credit: wallet, assetId, units },
  ])

/** The operator claimed unclaimed funds as capital. */
export function claimEntry(depositId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`deposit:${depositId}:claimed`, 'claimed by the operator', null, [
    { debit: unclaimed, credit: capital, assetId, units },
  ])
}

export type Conversion = Readonly<{
  orderId: string
  exchangeId: string
  give: { assetId: AssetId; units: bigint }
  /**
   * `dueUnits` go to the recipient; the fees are the rest of the value at the reference rate. `spreadUnits` are below zero if
   * the payout and the other fees are worth more than what was given.
   */
  take: { assetId: AssetId; dueUnits: bigint; spreadUnits: bigint; partnerUnits: bigint; networkUnits: bigint }
  partnerId: string
}>

export const conversionId = (orderId: string): string => `order:${orderId}:filled`

/** A conversion from inventory: both assets, and a posting for each part of the margin. A loss is debited to the spread. */
export function conversionEntry({ orderId, exchangeId, give, take, partnerId }: Conversion): JournalEntry {
  const owedToExchange = exchangeAccount(exchangeId)
  const { spreadUnits } = take
  return journalEntry(conversionId(orderId), 'conversion', exchangeId, [
    { debit: owedToExchange, credit: inventory, assetId: give.assetId, units: give.units },
    { debit: inventory, credit: owedToExchange, assetId: take.assetId, units: take.dueUnits },
    spreadUnits < 0n
      ? { debit: spread, credit: inventory, assetId: take.assetId, units: -spreadUnits }
      : { debit: inventory, credit: spread, assetId: take.assetId, units: spreadUnits },
    { debit: inventory, credit: partnerAccount(partnerId), assetId: take.assetId, units: take.partnerUnits },
    { debit: inventory, credit: 'income:network-fee', assetId: take.assetId, units: take.networkUnits },
  ])
}

/** Cancels a conversion. `lostUnits` of its fee were paid to the partner, who owes us nothing: they are our loss. */
export function conversionReversalEntry(entry: JournalEntry, partnerId: string, lostUnits: bigint): JournalEntry {
  const { id, event, exchangeId, postings } = reversalOf(entry, `${entry.id}:reversed`, 'conversion reversed')
  const split = postings.flatMap((posting) =>
    posting.debit === partnerAccount(partnerId)
      ? [
          { ...posting, units: posting.units - lostUnits },
          { ...posting, debit: suspense, units: lostUnits },
        ]
      : [posting],
  )
  return journalEntry(id, event, exchangeId, split)
}

export type PartnerConversion = Readonly<{
  partnerId: string
  /** As `2026-11`. */
  month: string
  give: Readonly<{ assetId: AssetId; units: bigint }>
  take: Readonly<{ assetId: AssetId; units: bigint; spreadUnits: bigint }>
}>

/** What we owe a partner in one currency is owed in another. Once a month and currency. */
export function partnerConversionEntry({ partnerId, month, give, take }: PartnerConversion): JournalEntry {
  const owed = partnerAccount(partnerId)
  return journalEntry(`partner:${partnerId}:${month}:${give.assetId}:converted`, 'balance converted', null, [
    { debit: owed, credit: inventory, assetId: give.assetId, units: give.units },
    { debit: inventory, credit: owed, assetId: take.assetId, units: take.units },
    { debit: inventory, credit: spread, assetId: take.assetId, units: take.spreadUnits },
  ])
}

/** Proceeds of an exchange without a recipient are credited to the partner. */
export function toPartnerEntry(
  executionId: string,
  exchangeId: string,
  partnerId: string,
  assetId: AssetId,
  units: bigint,
): JournalEntry {
  return journalEntry(`execution:${executionId}:to-partner`, 'credited to partner', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: partnerAccount(partnerId), assetId, units },
  ])
}

export const refundFeeId = (payoutId: string): string => `payout:${payoutId}:refund-fee`

/** We keep the network fee of a refund as income. */
export function refundFeeEntry(payoutId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(refundFeeId(payoutId), 'refund fee', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'income:network-fee', assetId, units },
  ])
}

/** The operator closed the execution without paying: its deposit is unclaimed. */
export function unclaimedEntry(executionId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`execution:${executionId}:unclaimed`, 'booked as unclaimed', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'liability:unclaimed', assetId, units },
  ])
}

/** The deposit does not cover its own refund fee: we keep it. */
export function dustEntry(executionId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`execution:${executionId}:dust`, 'booked as dust', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'income:dust', assetId, units },
  ])
}

export const reservedId = (payoutId: string): string => `payout:${payoutId}:reserved`

/** A withdrawal is queued: its amount leaves the account that owed it, so it cannot be withdrawn twice. */
export function withdrawalEntry(payoutId: string, from: Account, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(reservedId(payoutId), 'pay-out reserved', null, [
    { debit: from, credit: withdrawalAccount(payoutId), assetId, units },
  ])
}

/**
 * The pay-out of an unclaimed deposit was dropped after the deposit had left the chain. Its funding was reversed as the operator's,
 * because the pay-out owed it. Now it is owed to no one.
 */
export function unownedReturnEntry(payoutId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`payout:${payoutId}:unfunded`, 'pay-out dropped after its deposit was reversed', null, [
    { debit: unclaimed, credit: capital, assetId, units },
  ])
}

export type Outgoing = Readonly<{
  payoutId: string
  transactionId: string
  purpose: PayoutPurpose
  exchangeId: string | null
  partnerId: string | null
  /** The account that owed a withdrawal before it was queued; null = the operator withdraws capital. */
  owedFrom?: Account | null
  /** Reversed after its exchange closed: owed in `liability:lost:<id>`, not by the exchange. */
  isReversed?: boolean
  assetId: AssetId
  units: bigint
}>

const sourceOf = (payout: Outgoing): Account => (payout.purpose === 'sweep' ? deposits : wallet)

/** One posting about a payout and its transaction. */
function payoutEntry(
  payout: Outgoing,
  event: 'signed' | 'invalidated' | 'sent' | 'reversed',
  accountsOf: Readonly<{ debit: Account; credit: Account }>,
): JournalEntry {
  const { payoutId, transactionId, purpose, exchangeId, assetId, units } = payout
  return journalEntry(
    `payout:${payoutId}:${event}:${transactionId}`,
    `${purpose} ${event}`,
    exchangeId,
    staysInWallet(payout) ? [] : [{ ...accountsOf, assetId, units }],
  )
}

/** The payout is signed: its amount leaves the spendable balance. */
export const signedEntry = (payout: Outgoing): JournalEntry =>
  payoutEntry(payout, 'signed', { debit: outgoing, credit: sourceOf(payout) })

/** Every node proves the signed transaction invalidated: its amount is spendable again. */
export const invalidatedEntry = (payout: Outgoing): JournalEntry =>
  payoutEntry(payout, 'invalidated', { debit: sourceOf(payout), credit: outgoing })

/** The payout has its confirmations. A sweep arrives in our hot wallet; a gas supply is stranded until a sweep uses it. */
export const sentEntry = (payout: Outgoing): JournalEntry =>
  payoutEntry(payout, 'sent', { debit: receiverOf(payout), credit: outgoing })

/**
 * A confirmed payout was reversed and its transaction invalidated: its amount is spendable, and owed again. A closed
 * exchange owes nothing (I-36), so then `liability:lost:<id>` owes it.
 */
export const payoutReversalEntry = (payout: Outgoing): JournalEntry =>
  payoutEntry(payout, 'reversed', { debit: sourceOf(payout), credit: receiverOf(payout) })

/** The operator paid a reversed payout from another wallet: the amount is now owed to the operator, as capital. */
export function manualSettlementEntry(payout: Pick<Outgoing, 'payoutId' | 'exchangeId' | 'assetId' | 'units'>) {
  const { payoutId, exchangeId, assetId, units } = payout
  return journalEntry(`payout:${payoutId}:settled`, 'reversed payout settled by hand', exchangeId, [
    { debit: lostAccount(payoutId), credit: capital, assetId, units },
  ])
}

function receiverOf(payout: Outgoing): Account {
  if (payout.isReversed) return lostAccount(payout.payoutId)
  switch (payout.purpose) {
    case 'payout':
    case 'refund':
      return exchangeAccount(payout.exchangeId ?? '')
    case 'withdrawal':
      return payout.owedFrom ? withdrawalAccount(payout.payoutId) : 'equity:capital'
    case 'sweep':
    case 'split':
    case 'consolidate':
      return wallet
    case 'gas':
      // Its remainder on the deposit address is not worth a transaction of its own.
      return stranded
  }
}

export const networkFeeId = (transactionId: string): string => `transaction:${transactionId}:fee`

/** Who pays a network fee: the hot wallet, or a deposit address, which has the gas that it was supplied with. */
export type FeePayer = 'wallet' | 'deposits'
const payerOf = (from: FeePayer): Account => (from === 'wallet' ? wallet : stranded)

type NetworkFee = Readonly<{
  transactionId: string
  from: FeePayer
  /** The native currency of the network. */
  assetId: AssetId
  feeUnits: bigint
  /** Of the swept deposits, what a sweep of the native currency left on their address for its fee. */
  leftUnits?: bigint
}>

/** Network fee of a transaction. What a sweep leaves on its address and does not use is stranded. */
export function networkFeeEntry({ transactionId, from, assetId, feeUnits, leftUnits = 0n }: NetworkFee): JournalEntry {
  return journalEntry(networkFeeId(transactionId), 'network fee', null, [
    { debit: 'expense:network-fee', credit: payerOf(from), assetId, units: feeUnits },
    { debit: stranded, credit: deposits, assetId, units: leftUnits },
  ])
}

/** Network fee of a transaction that was confirmed, was reorganised, and then failed in another block. */
export function revertedFeeEntry({ transactionId, from, assetId, feeUnits }: NetworkFee): JournalEntry {
  return journalEntry(`${networkFeeId(transactionId)}:reverted`, 'network fee', null, [
    { debit: 'expense:network-fee', credit: payerOf(from), assetId, units: feeUnits },
  ])
}

/** Addresses of the operator that receive referrer fees. The operator holds their keys; we sign nothing there. */
export const feesAccount = (address: string): Account => `asset:fees:${address}`
const swapAccount = (swapId: string): Account => `liability:swap:${swapId}`

export type SwapFee = Readonly<{
  swapId: string
  /** Number of bookings of this swap's fee, including this one. */
  bookings: number
  partnerId: string
  /** The address that received the fee. */
  feeTo: string
  assetId: AssetId
  units: bigint
}>

/** A swap paid a partner's fee to the operator. It is not payable until the block is final. */
export function swapFeeEntry({ swapId, bookings, feeTo, assetId, units }: SwapFee): JournalEntry {
  return journalEntry(`swap:${swapId}:fee:${bookings}`, 'swap fee', null, [
    { debit: feesAccount(feeTo), credit: swapAccount(swapId), assetId, units },
  ])
}

/** The swap left its block, or paid a different fee in another block. */
export function swapFeeReversalEntry({ swapId, bookings, feeTo, assetId, units }: SwapFee): JournalEntry {
  return journalEntry(`swap:${swapId}:fee:${bookings}:reversed`, 'swap fee reversed', null, [
    { debit: swapAccount(swapId), credit: feesAccount(feeTo), assetId, units },
  ])
}

/** The block is final: the fee is owed to the partner. */
export function swapFeeFinalEntry({ swapId, bookings, partnerId, assetId, units }: SwapFee): JournalEntry {
  return journalEntry(`swap:${swapId}:fee:${bookings}:final`, 'swap fee final', null, [
    { debit: swapAccount(swapId), credit: partnerAccount(partnerId), assetId, units },
  ])
}

export type FeePaid = Readonly<{
  network: string
  txHash: string
  from: string
  to: string
  partnerId: string
  assetId: AssetId
  units: bigint
}>

export const feePaidId = ({ network, txHash, from, to, assetId }: Omit<FeePaid, 'partnerId' | 'units'>): string =>
  `fee-paid:${network}:${txHash}:${from}:${to}:${assetId}`

/** The operator paid a partner's fees from the address that received them. */
export function feePaidEntry(paid: FeePaid): JournalEntry {
  const { partnerId, from, assetId, units } = paid
  return journalEntry(feePaidId(paid), 'swap fees paid', null, [
    { debit: partnerAccount(partnerId), credit: feesAccount(from), assetId, units },
  ])
}
