import type { Asset } from '../../core/domain/asset.ts'
import type { Flow } from './exchange.ts'

/** An estimate of one conversion. Units of `from` and `to`; `to` is net of everything. */
export type RateQuote = Readonly<{
  from: Asset
  to: Asset
  flow: Flow
  fromUnits: bigint
  toUnits: bigint
  minUnits: bigint
  /** null where nothing bounds it. */
  maxUnits: bigint | null
  /** Dollar values scaled by 10^12. */
  fromUsd: bigint
  toUsd: bigint
  /** All in units of `to`: what lies between the reference rate and `toUnits`. */
  fees: { serviceUnits: bigint; partnerUnits: bigint; networkUnits: bigint }
  withinBounds: boolean
}>

/** A quote that can be held on to: `rateId` is null where the amount lies outside min and max. */
export type IssuedQuote = Readonly<{ quote: RateQuote; rateId: string | null; validUntil: Date | null }>

/** What a rateId binds, read back from the token after its authenticity was checked. */
export type RateTerms = Readonly<{
  /** Random part of the token, unique on the exchange: single use. */
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
