import Type, { type Static } from 'typebox'
import { defaultSpreads } from '../core/domain/book.ts'
import { moneroSchema } from './monero.ts'
import { privacySchema } from './privacy.ts'
import { swapsSchema } from './swaps.ts'

const closed = { additionalProperties: false }
const bps = (most: number, standard: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: most, default: standard, description }))
const duration = (standard: string, description: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}(ms|s|m|h|d)$', default: standard, description }))
const dollars = (standard: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000_000, default: standard, description }))

const network = Type.Object(
  {
    rpcUrls: Type.Array(Type.String({ pattern: '^https?://', maxLength: 2048 }), {
      minItems: 1,
      maxItems: 8,
      description: 'Its nodes. What moves money is believed only where they agree; two or more are wise',
    }),
  },
  closed,
)

const currency = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether it can be exchanged' })),
    rank: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Place in lists, in place of its own' }),
    ),
    feedCode: Type.Optional(
      Type.String({ pattern: '^[A-Z0-9]{2,20}$', description: 'Code in the rates feed, in place of the one by rule' }),
    ),
  },
  closed,
)

const coins = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,29})(\\.[0-9]{1,30})?$', maxLength: 64, description })

/** In coins, because the signer believes no price. */
const signerLimit = Type.Object(
  {
    transaction: coins('The largest payout that this worker signs, in coins'),
    hour: coins('What it signs in one hour, by its own journal'),
    day: coins('What it signs in 24 hours, likewise'),
  },
  closed,
)

/** The file that SWAPYARD_CONFIG names. */
export const fileSchema = Type.Object(
  {
    environment: Type.Optional(
      Type.Unsafe<'production' | 'sandbox'>(
        Type.String({ enum: ['production', 'sandbox'], default: 'production', description: 'What the file describes' }),
      ),
    ),
    networks: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z0-9]{2,12}$' }), network, { description: 'By ticker' }),
    ),
    currencies: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z0-9]{2,12}@[a-z0-9]{2,12}$' }), currency, {
        description: 'By `ticker@network`',
      }),
    ),
    prices: Type.Optional(
      Type.Object(
        {
          sources: Type.Array(Type.String({ pattern: '^https?://', maxLength: 2048 }), {
            minItems: 1,
            maxItems: 16,
            description:
              'Price documents: {"at": ms, "usd": {"btc": {"bid": "64000.1", "ask": "64010"}}}. The median of them is taken',
          }),
          quorum: Type.Integer({
            minimum: 1,
            maximum: 16,
            description: 'Sources that must agree on a price; two or more are wise',
          }),
        },
        closed,
      ),
    ),
    screening: Type.Optional(
      Type.Object(
        {
          denied: Type.Array(Type.String({ pattern: '^[a-z0-9]{2,12}:\\S{1,256}$' }), {
            maxItems: 100_000,
            description: 'Addresses that are never served, as `network:address`',
          }),
        },
        closed,
      ),
    ),
    spreads: Type.Optional(
      Type.Object(
        {
          stableBps: bps(
            5_000,
            defaultSpreads.bps.stable,
            'Our share where both assets are stablecoins, in basis points',
          ),
          majorBps: bps(5_000, defaultSpreads.bps.major, 'The same where the riskier asset is a major coin'),
          minorBps: bps(5_000, defaultSpreads.bps.minor, 'The same for all others'),
          fixedRateExtraBps: bps(5_000, defaultSpreads.fixedRateExtraBps, 'Added at a fixed rate'),
        },
        closed,
      ),
    ),
    clocks: Type.Optional(
      Type.Object(
        {
          rateId: duration('60s', 'How long a rateId is good'),
          fixedLock: duration('20m', 'Until when a deposit must be first seen for its fixed rate'),
          expiry: duration('24h', 'After which an exchange without a deposit fails'),
          stuck: duration('10m', 'How long a transaction may wait before its fee is raised'),
          drain: duration(
            '5s',
            'After SIGTERM, how long requests are still taken while readiness says no; not at all in the sandbox',
          ),
        },
        closed,
      ),
    ),
    privacy: privacySchema,
    monero: moneroSchema,
    limits: Type.Optional(
      Type.Object(
        {
          perTransactionUsd: dollars(
            250_000,
            'The largest single payout, in US dollars; larger ones wait for the operator',
          ),
          hourUsd: dollars(
            2_500_000,
            'Outflow of one hour in all, of each asset and of each partner. A private exchange counts twice, for the payment between its legs and the last one',
          ),
          dayUsd: dollars(10_000_000, 'Outflow of 24 hours, likewise'),
        },
        closed,
      ),
    ),
    signer: Type.Optional(
      Type.Object(
        {
          limits: Type.Optional(
            Type.Record(Type.String({ pattern: '^[a-z0-9]{2,12}@[a-z0-9]{2,12}$' }), signerLimit, {
              description: 'By `ticker@network`',
            }),
          ),
        },
        closed,
      ),
    ),
    swaps: swapsSchema,
    partners: Type.Optional(
      Type.Object(
        {
          feeBps: bps(1_000, 0, 'Fee of a partner that is added without one'),
          openExchangesMax: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000, description: 'Open exchanges at once' }),
          ),
          rateLimitPerMinute: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 10_000_000,
              default: 6_000,
              description: 'Weighted requests a minute',
            }),
          ),
        },
        { ...closed, description: 'What a partner has where its own row says nothing else' },
      ),
    ),
  },
  closed,
)

export type ConfigFile = Static<typeof fileSchema>

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `60s` → 60 000. The schema has checked the form. */
export function toMs(text: string): number {
  const unit = text.replace(/[0-9]+/, '')
  return Number.parseInt(text, 10) * (UNIT_MS[unit] ?? Number.NaN)
}
