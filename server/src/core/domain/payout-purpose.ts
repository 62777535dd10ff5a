/** What an outgoing payment is for. */
export type PayoutPurpose = 'payout' | 'refund' | 'sweep' | 'gas' | 'withdrawal' | 'split' | 'consolidate'

type Outgoing = Readonly<{ purpose: PayoutPurpose }>

/** Pays our own hot wallet: it makes more or fewer outputs of the same coins, so nothing is booked but its network fee. */
export const staysInWallet = ({ purpose }: Outgoing): boolean => purpose === 'split' || purpose === 'consolidate'

/** Moves money between our own addresses: it is no outflow, and needs no code, because the signer derives the addresses. */
export const isToOurselves = (payout: Outgoing): boolean =>
  payout.purpose === 'sweep' || payout.purpose === 'gas' || staysInWallet(payout)
