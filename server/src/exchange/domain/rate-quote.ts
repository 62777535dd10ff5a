import type { Asset } from '../../core/domain/asset.ts'
import type { Flow } from './exchange.ts'

/** An estimate. Amounts are units of `from` and `to`; `toUnits` is net of all fees. */
export type RateQuote = Readonly<{
  from: Asset
  to: Asset
  flow: Flow
  fromUnits: bigint
  toUnits: bigint
  minUnits: bigint
  /** null = no maximum. */
  maxUnits: bigint | null
  /** What the bounds give, in units of `to`. */
  minToUnits: bigint
  maxToUnits: bigint | null
  /** Dollar values scaled by 10^12. */
  fromUsd: bigint
  toUsd: bigint
  /**
   * In units of `to`: the difference between the value at the reference rate and `toUnits`. `payoutUnits` is a part of
   * `networkUnits`: what one payment of `to` costs.
   */
  fees: { serviceUnits: bigint; partnerUnits: bigint; networkUnits: bigint; payoutUnits: bigint }
  withinBounds: boolean
}>

/** A quote with its rateId, which is null if the amount is outside min and max. */
export type IssuedQuote = Readonly<{ quote: RateQuote; rateId: string | null; validUntil: Date | null }>

/** The terms that a rateId binds, from an authenticated token. */
export type RateTerms = Readonly<{
  /** Random part of the token. Unique among exchanges, so a rateId works once. */
  nonce: string
  partnerId: string
  fromAssetId: string
  toAssetId: string
  flow: Flow
  fromUnits: bigint
  toUnits: bigint
  /** By the database's clock. */
  expiresAt: Date
}>

/** `isTransparent`: everyone can see the payment between the legs on the intermediary's chain. */
export type PrivateQuote = Readonly<{
  quote: RateQuote
  expectedSeconds: number
  intermediary: Readonly<{ asset: Asset; isTransparent: boolean }>
}>
