import type { AssetId } from '../asset.ts'
import { type Account, type JournalEntry, journalEntry } from './journal.ts'

/*
 * The chart of accounts, and one builder per event. Nothing else spells an account.
 *
 *   asset:wallet              coins of the hot wallets (bitcoin family: every coin of ours)
 *   asset:deposits            credited coins on deposit addresses, not swept yet (account families)
 *   asset:outgoing            signed and on their way
 *   asset:fees:<address>      referrer fees of swaps at an address of the operator's, by token (`0x…@eth`)
 *   liability:exchange:<id>   what an exchange is owed, in the coin that came in or the coin that goes out
 *   liability:partner:<id>    fees and proceeds that partners have with us
 *   liability:swap:<id>       the referrer fee of a swap, until its block is final
 *   liability:withdrawal:<id> what a pay-out has taken out of a partner's account, or of what nobody claimed
 *   liability:lost:<id>       what a payout of a closed exchange paid before the chain took it back
 *   liability:unclaimed       coins that are in the wallet, and whose owner is not known
 *   equity:capital            what the operator brought in
 *   equity:inventory          the inventory venue's position: the two sides of a conversion meet here
 *   income:spread, income:network-fee, income:dust, expense:network-fee, expense:suspense
 */
const wallet: Account = 'asset:wallet'
const deposits: Account = 'asset:deposits'
const outgoing: Account = 'asset:outgoing'
const inventory: Account = 'equity:inventory'
const suspense: Account = 'expense:suspense'
const capital: Account = 'equity:capital'

export const accounts = { wallet, deposits, outgoing } as const
export const exchangeAccount = (exchangeId: string): Account => `liability:exchange:${exchangeId}`
export const partnerAccount = (partnerId: string): Account => `liability:partner:${partnerId}`

/** Where credited deposits lie until they are swept: the bitcoin family spends them in place. */
export type Custody = 'wallet' | 'deposits'
const custodyAccount = (custody: Custody): Account => (custody === 'wallet' ? wallet : deposits)

type Credit = Readonly<{
  depositId: string
  credits: number
  exchangeId: string
  assetId: AssetId
  units: bigint
  custody: Custody
}>

export function depositEntry({ depositId, credits, exchangeId, assetId, units, custody }: Credit): JournalEntry {
  return journalEntry(`deposit:${depositId}:credit:${credits}`, 'deposit', exchangeId, [
    { debit: custodyAccount(custody), credit: exchangeAccount(exchangeId), assetId, units },
  ])
}

/** The deposit left the chain before anything was paid. */
export function depositReversalEntry({
  depositId,
  credits,
  exchangeId,
  assetId,
  units,
  custody,
}: Credit): JournalEntry {
  return journalEntry(`deposit:${depositId}:reverse:${credits}`, 'deposit reversed', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: custodyAccount(custody), assetId, units },
  ])
}

/** The deposit left the chain after the payout was signed: a loss, booked where everybody sees it (I-6). */
export function depositLossEntry(loss: Credit): JournalEntry {
  return journalEntry(`deposit:${loss.depositId}:loss:${loss.credits}`, 'deposit lost', loss.exchangeId, [
    { debit: suspense, credit: custodyAccount(loss.custody), assetId: loss.assetId, units: loss.units },
  ])
}

/** A lost deposit is on the chain again. */
export function depositRecoveryEntry(found: Credit): JournalEntry {
  return journalEntry(`deposit:${found.depositId}:recovery:${found.credits}`, 'deposit recovered', found.exchangeId, [
    { debit: custodyAccount(found.custody), credit: suspense, assetId: found.assetId, units: found.units },
  ])
}

/** The payout of a lost deposit is dead: nothing is owed for it, and nothing was lost. */
export function lossReversalEntry(
  depositId: string,
  credits: number,
  exchangeId: string,
  loss: { assetId: AssetId; units: bigint },
): JournalEntry {
  return journalEntry(`deposit:${depositId}:unlost:${credits}`, 'deposit loss reversed', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: suspense, assetId: loss.assetId, units: loss.units },
  ])
}

export const unclaimed: Account = 'liability:unclaimed'
const lostAccount = (payoutId: string): Account => `liability:lost:${payoutId}`
const withdrawalAccount = (payoutId: string): Account => `liability:withdrawal:${payoutId}`
/** The first credit's id is what it was before fundings could be taken back. */
const nth = (id: string, credits: number): string => (credits === 1 ? id : `${id}:${credits}`)

/** Coins that the operator brought to a hot wallet. */
export function fundingEntry(depositId: string, credits: number, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(nth(`deposit:${depositId}:funding`, credits), 'funding', null, [
    { debit: wallet, credit: capital, assetId, units },
  ])
}

/** They left the chain again. */
export function fundingReversalEntry(
  depositId: string,
  credits: number,
  assetId: AssetId,
  units: bigint,
): JournalEntry {
  return journalEntry(nth(`deposit:${depositId}:unfunding`, credits), 'funding reversed', null, [
    { debit: capital, credit: wallet, assetId, units },
  ])
}

/** Coins at a shared address whose memo is nobody's: in the wallet, and not ours. */
export function unknownMemoEntry(depositId: string, credits: number, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`deposit:${depositId}:unclaimed:${credits}`, 'memo unknown', null, [
    { debit: wallet, credit: unclaimed, assetId, units },
  ])
}

export function unknownMemoReversalEntry(
  depositId: string,
  credits: number,
  assetId: AssetId,
  units: bigint,
): JournalEntry {
  return journalEntry(`deposit:${depositId}:unclaimed:${credits}:reversed`, 'memo unknown, reversed', null, [
    { debit: unclaimed, credit: wallet, assetId, units },
  ])
}

/** A person said that they are the house's own after all. */
export function claimEntry(depositId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`deposit:${depositId}:claimed`, 'claimed by the operator', null, [
    { debit: unclaimed, credit: capital, assetId, units },
  ])
}

export type Conversion = Readonly<{
  orderId: string
  exchangeId: string
  give: { assetId: AssetId; units: bigint }
  /** `dueUnits` go to the recipient; the fees are what the reference rate gives beyond it. */
  take: { assetId: AssetId; dueUnits: bigint; spreadUnits: bigint; partnerUnits: bigint; networkUnits: bigint }
  partnerId: string
}>

export const conversionId = (orderId: string): string => `order:${orderId}:filled`

/** A conversion at the inventory: both assets, and every part of the margin as a posting of its own. */
export function conversionEntry({ orderId, exchangeId, give, take, partnerId }: Conversion): JournalEntry {
  const owed = exchangeAccount(exchangeId)
  return journalEntry(conversionId(orderId), 'conversion', exchangeId, [
    { debit: owed, credit: inventory, assetId: give.assetId, units: give.units },
    { debit: inventory, credit: owed, assetId: take.assetId, units: take.dueUnits },
    { debit: inventory, credit: 'income:spread', assetId: take.assetId, units: take.spreadUnits },
    { debit: inventory, credit: partnerAccount(partnerId), assetId: take.assetId, units: take.partnerUnits },
    { debit: inventory, credit: 'income:network-fee', assetId: take.assetId, units: take.networkUnits },
  ])
}

/** Proceeds that no address was named for stay with us, as the partner's. */
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

/** What a refund costs stays with the house; what is too small to send back does altogether. */
export function refundFeeEntry(payoutId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`payout:${payoutId}:refund-fee`, 'refund fee', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'income:network-fee', assetId, units },
  ])
}

/** The operator closed it without paying: what came in is nobody's until somebody claims it. */
export function unclaimedEntry(executionId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`execution:${executionId}:unclaimed`, 'kept for the claimant', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'liability:unclaimed', assetId, units },
  ])
}

export function dustEntry(executionId: string, exchangeId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`execution:${executionId}:dust`, 'dust kept', exchangeId, [
    { debit: exchangeAccount(exchangeId), credit: 'income:dust', assetId, units },
  ])
}

export const reservedId = (payoutId: string): string => `payout:${payoutId}:reserved`

/** What is owed to a partner, or to somebody unknown, is asked to be paid out: it is owed by nobody else from now on. */
export function withdrawalEntry(payoutId: string, from: Account, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(reservedId(payoutId), 'pay-out reserved', null, [
    { debit: from, credit: withdrawalAccount(payoutId), assetId, units },
  ])
}

export type Outgoing = Readonly<{
  payoutId: string
  transactionId: string
  purpose: 'payout' | 'refund' | 'sweep' | 'gas' | 'withdrawal'
  exchangeId: string | null
  partnerId: string | null
  /** The account that owed a withdrawal before it was asked for; null = the operator takes out capital. */
  owedFrom?: Account | null
  /** Its exchange is closed: the chain took back what it was paid, and that is owed beside it. */
  lost?: boolean
  assetId: AssetId
  units: bigint
}>

const sourceOf = (payout: Outgoing): Account => (payout.purpose === 'sweep' ? deposits : wallet)

/** The payout is signed: its coins are spoken for. */
export function signedEntry(payout: Outgoing): JournalEntry {
  return journalEntry(
    `payout:${payout.payoutId}:signed:${payout.transactionId}`,
    `${payout.purpose} signed`,
    payout.exchangeId,
    [{ debit: outgoing, credit: sourceOf(payout), assetId: payout.assetId, units: payout.units }],
  )
}

/** The signed transaction is provably dead: the coins are back. */
export function unsignedEntry(payout: Outgoing): JournalEntry {
  return journalEntry(
    `payout:${payout.payoutId}:dead:${payout.transactionId}`,
    `${payout.purpose} dead`,
    payout.exchangeId,
    [{ debit: sourceOf(payout), credit: outgoing, assetId: payout.assetId, units: payout.units }],
  )
}

/** The payout has its confirmations. A sweep arrives in our own wallet; gas is spent where it goes. */
export function sentEntry(payout: Outgoing): JournalEntry {
  const debit = receiverOf(payout)
  return journalEntry(
    `payout:${payout.payoutId}:sent:${payout.transactionId}`,
    `${payout.purpose} sent`,
    payout.exchangeId,
    [{ debit, credit: outgoing, assetId: payout.assetId, units: payout.units }],
  )
}

/**
 * It had its confirmations, and is provably dead: the coins are back, and are owed to whom they were paid. An exchange that
 * is closed owes nothing any more, so that they stand beside it.
 */
export function lostEntry(payout: Outgoing): JournalEntry {
  return journalEntry(
    `payout:${payout.payoutId}:lost:${payout.transactionId}`,
    `${payout.purpose} lost`,
    payout.exchangeId,
    [{ debit: sourceOf(payout), credit: receiverOf(payout), assetId: payout.assetId, units: payout.units }],
  )
}

/** The operator paid it from elsewhere: what the house owed for it is the operator's. */
export function settledByHandEntry(payout: Pick<Outgoing, 'payoutId' | 'exchangeId' | 'assetId' | 'units'>) {
  const { payoutId, exchangeId, assetId, units } = payout
  return journalEntry(`payout:${payoutId}:settled`, 'lost payout settled by hand', exchangeId, [
    { debit: lostAccount(payoutId), credit: capital, assetId, units },
  ])
}

function receiverOf(payout: Outgoing): Account {
  if (payout.lost) return lostAccount(payout.payoutId)
  switch (payout.purpose) {
    case 'payout':
    case 'refund':
      return exchangeAccount(payout.exchangeId ?? '')
    case 'withdrawal':
      return payout.owedFrom ? withdrawalAccount(payout.payoutId) : 'equity:capital'
    case 'sweep':
      return wallet
    case 'gas':
      // What a deposit address is given for its sweep counts as spent: what is left of it is not worth fetching.
      return 'expense:network-fee'
  }
}

export const networkFeeId = (transactionId: string): string => `transaction:${transactionId}:fee`

/** What the network took for a transaction, from the wallet that signed it. */
export function networkFeeEntry(transactionId: string, from: Custody, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(networkFeeId(transactionId), 'network fee', null, [
    { debit: 'expense:network-fee', credit: custodyAccount(from), assetId, units },
  ])
}

/** What a transaction cost that had been counted as paid, left the chain and failed in another block. */
export function revertedFeeEntry(transactionId: string, assetId: AssetId, units: bigint): JournalEntry {
  return journalEntry(`${networkFeeId(transactionId)}:reverted`, 'network fee', null, [
    { debit: 'expense:network-fee', credit: wallet, assetId, units },
  ])
}

/** The operator's addresses that take fees. Their keys are the operator's: the house signs nothing there. */
export const feesAccount = (address: string): Account => `asset:fees:${address}`
const swapAccount = (swapId: string): Account => `liability:swap:${swapId}`

export type SwapFee = Readonly<{
  swapId: string
  /** How often a fee of this swap was booked, this time included. */
  bookings: number
  partnerId: string
  /** Whom the chain paid. */
  feeTo: string
  assetId: AssetId
  units: bigint
}>

/** The chain paid the operator a partner's fee. Until the block is final it is the swap's, and nobody can be paid of it. */
export function swapFeeEntry({ swapId, bookings, feeTo, assetId, units }: SwapFee): JournalEntry {
  return journalEntry(`swap:${swapId}:fee:${bookings}`, 'swap fee', null, [
    { debit: feesAccount(feeTo), credit: swapAccount(swapId), assetId, units },
  ])
}

/** The swap left its block, or paid something else in another. */
export function swapFeeReversalEntry({ swapId, bookings, feeTo, assetId, units }: SwapFee): JournalEntry {
  return journalEntry(`swap:${swapId}:fee:${bookings}:reversed`, 'swap fee reversed', null, [
    { debit: swapAccount(swapId), credit: feesAccount(feeTo), assetId, units },
  ])
}

/** Its block is final: the fee is the partner's. */
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

/** The operator sent a partner's fees from the address that took them. */
export function feePaidEntry(paid: FeePaid): JournalEntry {
  const { partnerId, from, assetId, units } = paid
  return journalEntry(feePaidId(paid), 'swap fees paid', null, [
    { debit: partnerAccount(partnerId), credit: feesAccount(from), assetId, units },
  ])
}
