import Type, { type Static } from 'typebox'
import { amountText, dateTimeOrNull, numberOrNull, textOrNull } from './scalars.ts'

/** The difference between the reference rate and `toAmount`, in the target currency. */
export const QuoteFees = Type.Object(
  {
    service: amountText({ description: 'Our fee.', examples: ['1.284'] }),
    partner: amountText({ description: "The partner's fee.", examples: ['0'] }),
    network: amountText({ description: 'Network costs of the payout and of the deposit.', examples: ['0.75'] }),
    payout: amountText({ description: 'The part of `network` that a refund costs, too.', examples: ['0.5'] }),
  },
  { description: 'All fees, in the target currency: `service`, `partner` and `network`. Additive.' },
)

/** A rate quote. Amounts have at most 15 significant digits, so that the JSON numbers are exact. */
export const RateQuote = Type.Object(
  {
    min: Type.Number({ minimum: 0, description: 'Minimum allowed amount.', examples: [0.0004] }),
    max: numberOrNull({
      description: 'Maximum allowed amount, from a reserve that is rounded down to two digits; null means no limit.',
      examples: [2.8],
    }),
    fromAmount: Type.Number({ minimum: 0, description: 'Requested amount.', examples: [0.01] }),
    toAmount: Type.Number({
      minimum: 0,
      description: 'Estimated amount that the recipient gets, net of all fees.',
      examples: [642.10558],
    }),
    fromCurrency: Type.String({ description: 'Source ticker.', examples: ['btc'] }),
    toCurrency: Type.String({ description: 'Target ticker.', examples: ['usdt'] }),
    fromNetwork: Type.String({ description: 'Source network.', examples: ['btc'] }),
    toNetwork: Type.String({ description: 'Target network.', examples: ['eth'] }),
    amountFromUsd: amountText({ description: 'USD equivalent of the source amount.', examples: ['644.5'] }),
    amountToUsd: amountText({ description: 'USD equivalent of the target amount.', examples: ['642.1'] }),
    rateId: textOrNull({
      description:
        'Reserves this quote for one create within 60 seconds. Null if the amount is outside `min` and `max`. Additive.',
      examples: [null],
    }),
    validUntil: dateTimeOrNull({
      description: 'Expiry of `rateId`; null without one. Additive.',
      examples: ['2026-01-02T03:05:05.000Z'],
    }),
    fees: QuoteFees,
    minTo: Type.Number({
      minimum: 0,
      description: 'What `min` gives: the `toAmount` of its quote. Additive.',
      examples: [25.1],
    }),
    maxTo: numberOrNull({
      description: 'What `max` gives: the `toAmount` of its quote; null means no limit. Additive.',
      examples: [178500],
    }),
  },
  { description: 'Rate quote.' },
)
export type RateQuote = Static<typeof RateQuote>

export const Intermediary = Type.Object(
  {
    currency: Type.String({ description: 'Ticker of the intermediary.', examples: ['ltc'] }),
    network: Type.String({ description: 'Network of the intermediary.', examples: ['ltc'] }),
    isTransparent: Type.Boolean({
      description:
        'True if the payment between the legs is public on this network: its amount and time help to match payer and recipient, and random delays do not prevent that. False for XMR, where only the two ends are public.',
      examples: [true],
    }),
  },
  { description: 'The intermediary of this quote. A create chooses again. Additive.' },
)

/** A private quote is not reserved: it has no `rateId`. */
export const PrivateRateQuote = Type.Object(
  {
    ...Type.Omit(RateQuote, ['rateId', 'validUntil']).properties,
    expectedSeconds: Type.Integer({
      minimum: 0,
      description:
        'Average time in seconds from the deposit to the payout, including confirmations and random delays. Additive.',
      examples: [2460],
    }),
    intermediary: Intermediary,
  },
  { description: 'Rate quote of a private exchange, with both legs and both network fees.' },
)
export type PrivateRateQuote = Static<typeof PrivateRateQuote>
