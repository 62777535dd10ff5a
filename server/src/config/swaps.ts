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

const contracts = Type.Optional(
  Type.Record(
    Type.String({ pattern: '^[a-z0-9]{2,12}$' }),
    Type.Array(contract('A contract of its'), { maxItems: 20 }),
    { description: 'What may be called and may spend, by network, in place of what it publishes; [] compares only' },
  ),
)
const url = Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2048, description: 'In place of its own' }))
const keyFile = Type.String({ minLength: 1, maxLength: 4096, description: 'Path of a file that holds the API key' })
const aggregators = Type.Object(
  {
    '0x': Type.Optional(Type.Object({ keyFile, url, contracts }, closed)),
    openocean: Type.Optional(Type.Object({ keyFile: Type.Optional(keyFile), url, contracts }, closed)),
    kyberswap: Type.Optional(
      Type.Object(
        {
          client: Type.String({ minLength: 1, maxLength: 64, description: 'Name by which it knows us' }),
          url,
          contracts,
        },
        closed,
      ),
    ),
  },
  { ...closed, description: 'Routers of others that compete with our own; none unless named' },
)

/** What the operator's file says of swaps on chain. */
export const swapsSchema = Type.Optional(
  Type.Object(
    {
      quote: duration('30s', 'How long a quote of a swap is meant to hold'),
      deadline: duration('20m', 'How long after its build a swap may get into a block'),
      dropped: duration('10m', 'After which a transaction that no node knows counts as dropped'),
      priceImpactMaxPercent: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Above it nothing is quoted or built' }),
      ),
      aggregators: Type.Optional(aggregators),
      aggregatorBudget: duration('400ms', 'What a quote waits for them at most; a build twice as long'),
      aggregatorMinGain: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          default: 5,
          description: 'Hundredths of a percent that one must pay more than our own route, net of gas, to be taken',
        }),
      ),
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
  aggregatorGainBps: number
}>

/** `key` is a secret, but for kyberswap, where it is our name. null = none is needed. */
export type AggregatorConfig = Readonly<{
  id: '0x' | 'openocean' | 'kyberswap'
  key: string | null
  url: string | null
  /** In place of those that it publishes, by network; lower case. */
  contracts?: ReadonlyMap<string, readonly string[]>
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
    aggregatorGainBps: given?.aggregatorMinGain ?? 5,
    disabled: new Set(entries.flatMap(([id, { enabled }]) => (enabled === false ? [id] : []))),
  }
}

function aggregatorsOf(given: FileSwaps | undefined): readonly AggregatorConfig[] {
  const { '0x': zeroX, openocean, kyberswap } = given?.aggregators ?? {}
  const made: AggregatorConfig[] = []
  if (zeroX) made.push({ id: '0x', key: readKey(zeroX.keyFile), ...ownOf(zeroX) })
  if (openocean)
    made.push({ id: 'openocean', key: openocean.keyFile ? readKey(openocean.keyFile) : null, ...ownOf(openocean) })
  if (kyberswap) made.push({ id: 'kyberswap', key: kyberswap.client, ...ownOf(kyberswap) })
  return made
}

type Own = Readonly<{ url?: string; contracts?: Readonly<Record<string, readonly string[]>> }>

const ownOf = ({ url, contracts = {} }: Own): Pick<AggregatorConfig, 'url' | 'contracts'> => ({
  url: url ?? null,
  contracts: new Map(
    Object.entries(contracts).map(([network, some]) => [network, some.map((one) => one.toLowerCase())] as const),
  ),
})

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
