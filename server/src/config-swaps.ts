import { readFileSync } from 'node:fs'
import Type, { type Static } from 'typebox'

const closed = { additionalProperties: false }
const duration = (standard: string, description: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}(ms|s|m|h|d)$', default: standard, description }))
const contract = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })

const token = Type.Object(
  {
    address: contract('Its contract'),
    name: Type.String({ minLength: 1, maxLength: 64 }),
    symbol: Type.String({ minLength: 1, maxLength: 32 }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
  },
  closed,
)

const network = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether swaps are served on it' })),
    feeAddress: Type.Optional(contract('Where referrer fees go of partners without an address of their own there')),
    tokens: Type.Optional(
      Type.Array(token, { maxItems: 10_000, description: 'Tokens listed besides those of published lists' }),
    ),
  },
  closed,
)

const url = Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2048, description: 'In place of its own' }))
const keyFile = Type.String({ minLength: 1, maxLength: 4096, description: 'Path of a file that holds the API key' })
const aggregators = Type.Object(
  {
    '0x': Type.Optional(Type.Object({ keyFile, url }, closed)),
    openocean: Type.Optional(Type.Object({ keyFile: Type.Optional(keyFile), url }, closed)),
    kyberswap: Type.Optional(
      Type.Object(
        { client: Type.String({ minLength: 1, maxLength: 64, description: 'Name by which it knows us' }), url },
        closed,
      ),
    ),
  },
  { ...closed, description: 'Routers of others that quotes are compared with; none unless named' },
)

/** What the operator's file says of swaps on chain. */
export const swapsSchema = Type.Optional(
  Type.Object(
    {
      quote: duration('30s', 'How long a quote of a swap is meant to hold'),
      deadline: duration('20m', 'How long after its build a swap may get into a block'),
      dropped: duration('10m', 'After which a transaction that no node knows counts as dropped'),
      priceImpactMaxPercent: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Above it nothing is built' }),
      ),
      aggregators: Type.Optional(aggregators),
      aggregatorBudget: duration('400ms', 'What a quote waits for them at most'),
      networks: Type.Optional(
        Type.Record(Type.String({ pattern: '^[a-z0-9]{2,12}$' }), network, { description: 'By ticker' }),
      ),
    },
    closed,
  ),
)

type FileSwaps = Static<typeof swapsSchema>
type Token = Readonly<Static<typeof token>>

export type SwapConfig = Readonly<{
  quoteMs: number
  deadlineMs: number
  droppedMs: number
  impactMaxPpm: number
  feeAddresses: ReadonlyMap<string, string>
  tokens: ReadonlyMap<string, readonly Token[]>
  disabled: ReadonlySet<string>
  aggregators: readonly AggregatorConfig[]
  aggregatorBudgetMs: number
}>

/** `key` is a secret, but for kyberswap, where it is our name. null = none is needed. */
export type AggregatorConfig = Readonly<{
  id: '0x' | 'openocean' | 'kyberswap'
  key: string | null
  url: string | null
}>

const PPM_IN_PERCENT = 10_000

export function assembleSwaps(given: FileSwaps | undefined, toMs: (text: string) => number): SwapConfig {
  const { quote = '30s', deadline = '20m', dropped = '10m', priceImpactMaxPercent = 50, networks = {} } = given ?? {}
  const entries = Object.entries(networks)
  return {
    quoteMs: toMs(quote),
    deadlineMs: toMs(deadline),
    droppedMs: toMs(dropped),
    impactMaxPpm: priceImpactMaxPercent * PPM_IN_PERCENT,
    feeAddresses: new Map(entries.flatMap(([id, { feeAddress }]) => (feeAddress ? [[id, feeAddress] as const] : []))),
    tokens: new Map(entries.map(([id, { tokens = [] }]) => [id, tokens] as const)),
    aggregators: aggregatorsOf(given),
    aggregatorBudgetMs: toMs(given?.aggregatorBudget ?? '400ms'),
    disabled: new Set(entries.flatMap(([id, { enabled }]) => (enabled === false ? [id] : []))),
  }
}

function aggregatorsOf(given: FileSwaps | undefined): readonly AggregatorConfig[] {
  const { '0x': zeroX, openocean, kyberswap } = given?.aggregators ?? {}
  return [
    ...(zeroX ? [{ id: '0x', key: readKey(zeroX.keyFile), url: zeroX.url ?? null } as const] : []),
    ...(openocean
      ? [
          {
            id: 'openocean',
            key: openocean.keyFile ? readKey(openocean.keyFile) : null,
            url: openocean.url ?? null,
          } as const,
        ]
      : []),
    ...(kyberswap ? [{ id: 'kyberswap', key: kyberswap.client, url: kyberswap.url ?? null } as const] : []),
  ]
}

const readKey = (path: string): string => readFileSync(path, 'utf8').trim()

/** Key files that cannot be read. */
export function swapProblems(given: FileSwaps | undefined): readonly string[] {
  const { '0x': zeroX, openocean } = given?.aggregators ?? {}
  return [zeroX?.keyFile, openocean?.keyFile].flatMap((path) => {
    if (path === undefined) return []
    try {
      return readKey(path) === '' ? [`SWAPYARD_CONFIG: swaps.aggregators: ${path} is empty`] : []
    } catch {
      return [`SWAPYARD_CONFIG: swaps.aggregators: ${path} cannot be read`]
    }
  })
}
