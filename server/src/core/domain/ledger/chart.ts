/*
 * The chart of accounts:
 *
 *   asset:wallet              balance of the hot wallets (Bitcoin family: all our outputs)
 *   asset:deposits            credited deposits that are not swept yet (account families)
 *   asset:outgoing            signed payments without confirmations
 *   asset:fees:<address>      referrer fees at an address of the operator, by token (`0x…@eth`)
 *   liability:exchange:<id>   owed to an exchange, in the received or the target asset
 *   liability:partner:<id>    fees and proceeds owed to a partner
 *   liability:swap:<id>       referrer fee of a swap whose block is not final
 *   liability:withdrawal:<id> withdrawal that is not confirmed, from a partner's balance, unclaimed funds or capital
 *   liability:lost:<id>       owed again for a payout that was reversed after its exchange closed
 *   liability:unclaimed       received funds without a known owner
 *   equity:capital            capital that the operator deposited
 *   equity:inventory          position of the inventory venue: the counter account of both sides of a conversion
 *   expense:stranded          native currency on deposit addresses that is no unswept deposit: gas that sweeps did not use
 *   income:spread, income:network-fee, income:dust, expense:network-fee, expense:suspense
 */
export const chart = {
  single: [
    'asset:wallet',
    'asset:deposits',
    'asset:outgoing',
    'liability:unclaimed',
    'equity:capital',
    'equity:inventory',
    'income:spread',
    'income:network-fee',
    'income:dust',
    'expense:network-fee',
    'expense:suspense',
    'expense:stranded',
  ],
  /** One account per id or address, which follows after a colon. */
  perOwner: [
    'asset:fees',
    'liability:exchange',
    'liability:partner',
    'liability:swap',
    'liability:withdrawal',
    'liability:lost',
  ],
} as const

/** An account of the chart. It has one balance per asset. */
export type Account = (typeof chart.single)[number] | `${(typeof chart.perOwner)[number]}:${string}`
