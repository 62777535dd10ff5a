import Type, { type StaticDecode } from 'typebox'
import { type ExchangeId, exchangeIds, exchanges } from '../adapters/prices/exchanges/index.ts'
import { isRecord } from '../lib/is-record.ts'
import { findWrongNames, headers } from './headers.ts'
import { isLoopback } from './loopback.ts'
import { httpUrl, integer, object } from './schema.ts'

/** `exchange` null: a price document of the operator at `url`. `url` null: the exchange's own. `headers` are secrets. */
export type PriceSourceConfig = Readonly<{
  exchange: ExchangeId | null
  url: string | null
  headers: Readonly<Record<string, string>>
}>
export type PriceConfig = Readonly<{ sources: readonly PriceSourceConfig[]; quorum: number }>

const source = object({
  exchange: Type.Optional(
    Type.Unsafe<ExchangeId>(
      Type.String({ enum: [...exchangeIds], description: 'A public exchange, whose prices need no key' }),
    ),
  ),
  url: Type.Optional(
    httpUrl({
      description:
        'Without `exchange`: a price document of yours. With it: a mirror or a proxy of the exchange, with the same replies',
    }),
  ),
  headers: Type.Optional(headers('Headers that are sent to `url`, by name. They are never logged')),
})

export const pricesSchema = object({
  sources: Type.Array(source, {
    minItems: 1,
    maxItems: 16,
    description:
      'Exchanges, as `{"exchange": "kraken"}`, and price documents of yours, as `{"url": "https://…"}` or as the URL alone: {"at": ms, "usd": {"btc": {"bid": "64000.1", "ask": "64010"}}}. Of the sources that agree with the median within 0.25 %, the lowest bid and the highest ask are used. In production three or more (guides/operate.md, Price sources)',
  }),
  quorum: integer([1, 16], 'Number of sources that must agree on a price; in production two or more'),
})

/** Replaces each source that is a URL alone by its object. */
export function expandSources(content: unknown): unknown {
  if (!isRecord(content) || !isRecord(content['prices'])) return content
  const { prices } = content
  const sources = prices['sources']
  if (!Array.isArray(sources)) return content
  const expanded = sources.map((one: unknown) => (typeof one === 'string' ? { url: one } : one))
  return { ...content, prices: { ...prices, sources: expanded } }
}

type Decoded = StaticDecode<typeof pricesSchema>

export const toPriceConfig = ({ sources, quorum }: Decoded): PriceConfig => ({
  quorum,
  sources: sources.map(({ exchange = null, url = null, headers: own = {} }) => ({ exchange, url, headers: own })),
})

/** Sources that name nothing, headers that cannot be sent, and a quorum that can never be reached. */
export function findPriceContradictions({ sources, quorum }: PriceConfig): readonly string[] {
  const problems = sources.flatMap(({ exchange, url, headers: own }, index) => {
    const path = `prices.sources.${index}`
    return [
      ...(exchange === null && url === null ? [`${path} has neither an exchange nor a url`] : []),
      ...(url === null && Object.keys(own).length > 0 ? [`${path}.headers needs a url to which they are sent`] : []),
      ...(url !== null && !URL.canParse(url) ? [`${path}.url is not a URL`] : []),
      ...findWrongNames(`${path}.headers`, own),
    ]
  })
  if (quorum > sources.length)
    return [
      ...problems,
      `prices.quorum is ${quorum}, and prices.sources has ${sources.length}: no price would ever be used`,
    ]
  const inDollars = sources.filter(
    ({ exchange }) => exchange === null || exchanges[exchange].quoteCurrency === 'usd',
  ).length
  if (quorum > inDollars)
    problems.push(
      `prices.quorum is ${quorum}, and ${inDollars} of prices.sources quote in US dollars: no price would ever be used, because prices in a stablecoin need that many for its price in dollars`,
    )
  return problems
}

const QUORUM_MIN = 2
const SOURCES_MIN = 3

/** What production refuses: prices that one source can set, or that others can alter on their way. */
export function findUnsafePrices({ sources, quorum }: PriceConfig): readonly string[] {
  const problems = sources.flatMap(({ url }, index) =>
    url !== null && URL.canParse(url) && new URL(url).protocol === 'http:' && !isLoopback(new URL(url).hostname)
      ? [
          `prices.sources.${index}.url has no HTTPS and is on another machine: anyone on the way to it could set our price`,
        ]
      : [],
  )
  // Two mirrors of one exchange are one source.
  const distinct = new Set(sources.map(({ exchange, url }) => exchange ?? url)).size
  if (distinct < SOURCES_MIN || distinct < sources.length || quorum < QUORUM_MIN)
    problems.push(
      `prices has ${sources.length} sources, ${distinct} of them distinct, and the quorum ${quorum}: in production at least ${QUORUM_MIN} of at least ${SOURCES_MIN} must agree, because a single source can set our price`,
    )
  return problems
}
