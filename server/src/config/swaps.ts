import { readFileSync } from 'node:fs'
import Type, { type StaticDecode } from 'typebox'
import { type SwapSettings, swapDefaults } from '../swap/interfaces.ts'
import { bySwapNetwork, duration, httpUrl, object, scaled, section, whole } from './schema.ts'

const contract = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })

const token = object({
  address: contract('Address of its contract'),
  name: Type.String({ minLength: 1, maxLength: 64 }),
  symbol: Type.String({ minLength: 1, maxLength: 32 }),
  decimals: Type.Integer({ minimum: 0, maximum: 36 }),
})

const network = section({
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether swaps are served on it' })),
  feeAddress: Type.Optional(
    contract('Address that takes the referrer fees of partners without a fee address on this network'),
  ),
  tokens: Type.Array(token, {
    default: [],
    maxItems: 10_000,
    description:
      'Tokens that are listed in addition to the published lists. Routes may pass through them: list only tokens that you trust',
  }),
  connectors: Type.Array(contract('Address of its contract'), {
    default: [],
    maxItems: 20,
    description:
      'Connector tokens in addition to those of the program: pools of every listed token with them are looked up',
  }),
})

const shared = {
  url: Type.Optional(httpUrl({ description: "Replaces the aggregator's public URL" })),
  contracts: Type.Decode(
    bySwapNetwork(
      Type.Array(contract('Address of one of its contracts'), { maxItems: 20 }),
      'Contracts that may be called and may spend tokens, by network; replaces the addresses that the aggregator publishes. `[]`: its quotes are compared and never used',
    ),
    (byNetwork): ReadonlyMap<string, readonly string[]> =>
      new Map(Object.entries(byNetwork).map(([id, addresses]) => [id, addresses.map((one) => one.toLowerCase())])),
  ),
}
const keyFile = Type.String({ minLength: 1, maxLength: 4096, description: 'Path of a file that holds the API key' })
const aggregators = section(
  {
    '0x': Type.Optional(object({ keyFile, ...shared })),
    openocean: Type.Optional(object({ keyFile: Type.Optional(keyFile), ...shared })),
    kyberswap: Type.Optional(
      object({
        client: Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'Client name that is sent to the aggregator',
        }),
        ...shared,
      }),
    ),
  },
  'Aggregators that compete with our own routes; none by default',
)

const PPM_PER_PERCENT = 10_000

/** Of swaps on chain. */
export const swapsSchema = section({
  quote: duration(swapDefaults.quoteMs, 'Time for which a swap quote is meant to hold'),
  deadline: duration(swapDefaults.deadlineMs, 'Time after its build within which a swap can be included in a block'),
  dropped: duration(swapDefaults.droppedMs, 'A transaction that no node knows counts as dropped after this time'),
  priceImpactMaxPercent: scaled(
    PPM_PER_PERCENT,
    swapDefaults.impactMaxPpm,
    [1, 100],
    'Swaps above this price impact are neither quoted nor built unless the request accepts more',
  ),
  referenceLossMaxPercent: scaled(
    PPM_PER_PERCENT,
    swapDefaults.referenceLossMaxPpm,
    [1, 100],
    'Swaps that lose more against reference prices are neither quoted nor built unless the request accepts more. Applies where both sides are currencies with a price',
  ),
  aggregators,
  aggregatorBudget: duration(400, 'The longest wait of a quote for aggregators; a build waits up to twice as long'),
  aggregatorMinGain: whole(
    swapDefaults.aggregatorGainBps,
    [0, 10_000],
    'Basis points that an aggregator must pay more than our own route, net of gas, to be chosen',
  ),
  networks: bySwapNetwork(network),
})

export type SwapConfig = Readonly<
  SwapSettings & {
    tokens: ReadonlyMap<string, readonly Readonly<StaticDecode<typeof token>>[]>
    /** The operator's connector tokens, by network. */
    connectors: ReadonlyMap<string, readonly string[]>
    /** Networks on which swaps are not served. */
    disabled: ReadonlySet<string>
    aggregators: readonly AggregatorConfig[]
    aggregatorBudgetMs: number
  }
>

/** `key` is a secret, except for kyberswap, where it is our client name. null = no key is sent. */
export type AggregatorConfig = Readonly<{
  id: '0x' | 'openocean' | 'kyberswap'
  key: string | null
  url: string | null
  /** In lower case, by network; replaces the addresses that the aggregator publishes. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** Reads the key files as well, and adds a problem for each that cannot be read. */
export function toSwapConfig(swaps: StaticDecode<typeof swapsSchema>, problems: string[]): SwapConfig {
  const networks = Object.entries(swaps.networks)
  return {
    quoteMs: swaps.quote,
    deadlineMs: swaps.deadline,
    droppedMs: swaps.dropped,
    impactMaxPpm: swaps.priceImpactMaxPercent,
    referenceLossMaxPpm: swaps.referenceLossMaxPercent,
    feeAddresses: new Map(networks.flatMap(([id, { feeAddress }]) => (feeAddress ? [[id, feeAddress] as const] : []))),
    tokens: new Map(networks.map(([id, { tokens }]) => [id, tokens])),
    connectors: new Map(networks.map(([id, { connectors }]) => [id, connectors])),
    disabled: new Set(networks.flatMap(([id, { enabled }]) => (enabled === false ? [id] : []))),
    aggregators: toAggregators(swaps.aggregators, problems),
    aggregatorBudgetMs: swaps.aggregatorBudget,
    aggregatorGainBps: swaps.aggregatorMinGain,
  }
}

function toAggregators(
  { '0x': zeroX, openocean, kyberswap }: StaticDecode<typeof aggregators>,
  problems: string[],
): AggregatorConfig[] {
  const read = (path: string) => readKey(path, problems)
  const configs: AggregatorConfig[] = []
  if (zeroX) configs.push({ id: '0x', key: read(zeroX.keyFile), ...endpoint(zeroX) })
  if (openocean)
    configs.push({ id: 'openocean', key: openocean.keyFile ? read(openocean.keyFile) : null, ...endpoint(openocean) })
  if (kyberswap) configs.push({ id: 'kyberswap', key: kyberswap.client, ...endpoint(kyberswap) })
  return configs
}

type Endpoint = Readonly<{ url?: string; contracts: ReadonlyMap<string, readonly string[]> }>

const endpoint = ({ url, contracts }: Endpoint) => ({ url: url ?? null, contracts })

function readKey(path: string, problems: string[]): string {
  const report = (reason: string) => problems.push(`SWAPYARD_CONFIG: swaps.aggregators: ${path} ${reason}`)
  try {
    const key = readFileSync(path, 'utf8').trim()
    if (key === '') report('is empty')
    return key
  } catch {
    report('cannot be read')
    return ''
  }
}
