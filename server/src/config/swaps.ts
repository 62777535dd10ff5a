import { readFileSync } from 'node:fs'
import Type, { type StaticDecode } from 'typebox'
import { dexNetworks } from '../../dexes/index.ts'
import { swapNetworks } from '../swap/domain/swap.ts'
import { type SwapSettings, swapDefaults } from '../swap/interfaces.ts'
import { byDex, bySwapNetwork, duration, httpUrl, object, scaled, section, whole } from './schema.ts'
import { type AddressUse, parseSwapAddress } from './swap-addresses.ts'

const ADDRESS_LENGTH_MAX = 400
/** Its form depends on the network: `parseSwapAddress` checks it. */
const address = (description: string) => Type.String({ minLength: 1, maxLength: ADDRESS_LENGTH_MAX, description })

const token = object({
  address: address('Address of its contract, its mint or its coin type'),
  name: Type.String({ minLength: 1, maxLength: 64 }),
  symbol: Type.String({ minLength: 1, maxLength: 32 }),
  decimals: Type.Integer({ minimum: 0, maximum: 36 }),
})

/** Networks whose swaps were never compared with a real node: they are served only if the operator says so. */
const unproven: ReadonlySet<string> = new Set(['sol', 'sui'])

const dex = object({
  package: Type.Optional(address('Its package; replaces that of the program, because an upgrade publishes another')),
  pools: Type.Array(address('Id of a pool'), {
    default: [],
    maxItems: 1_000,
    description: 'Pools that are read in addition to those of the program',
  }),
})

const network = section({
  enabled: Type.Optional(
    Type.Boolean({
      description:
        'Whether swaps are served on it. Unset: they are, except on `sol` and `sui`, whose swaps were never compared with a real node. Those also need two nodes or more',
    }),
  ),
  feeAddress: Type.Optional(
    address('Address that takes the referrer fees of partners without a fee address on this network'),
  ),
  tokens: Type.Array(token, {
    default: [],
    maxItems: 10_000,
    description:
      'Tokens that are listed in addition to the published lists. Routes may pass through them: list only tokens that you trust',
  }),
  connectors: Type.Array(address('Address of its contract, its mint or its coin type'), {
    default: [],
    maxItems: 20,
    description:
      'Connector tokens in addition to those of the program: pools of every listed token with them are looked up',
  }),
  lookupTables: Type.Array(address('Address of a lookup table'), {
    default: [],
    maxItems: 16,
    description:
      'Lookup tables of accounts of pools, on `sol`: transactions that are too large without them name accounts by these',
  }),
  dexes: byDex(dex),
})

const shared = {
  url: Type.Optional(httpUrl({ description: "Replaces the aggregator's public URL" })),
  contracts: bySwapNetwork(
    Type.Array(address('Address of one of its contracts, programs or packages'), { maxItems: 20 }),
    'Contracts that may be called and may spend tokens, by network; replaces the addresses that the aggregator publishes. `[]`: its quotes are compared and never used',
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
    jupiter: Type.Optional(object({ keyFile, ...shared })),
    cetus: Type.Optional(object({ keyFile: Type.Optional(keyFile), ...shared })),
  },
  'Aggregators that compete with our own routes; none by default',
)

const PPM_PER_PERCENT = 10_000

/** Of swaps on chain. */
export const swapsSchema = section({
  quote: duration(swapDefaults.quoteMs, 'Time for which a swap quote is meant to hold'),
  deadline: duration(swapDefaults.deadlineMs, 'Time after its build within which a swap can be included in a block'),
  dropped: duration(
    swapDefaults.droppedMs,
    'A transaction that no node knows counts as dropped after this time (not on sol and sui)',
  ),
  feeAddressDelay: duration(
    swapDefaults.feeAddressDelayMs,
    'How long a fee address that a partner sets waits before it takes effect: the time to notice a stolen API key',
  ),
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
  aggregatorBudget: duration(
    400,
    'The longest wait of a quote for aggregators; a build waits up to three times as long',
  ),
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
    /** The operator's lookup tables, by network. */
    lookupTables: ReadonlyMap<string, readonly string[]>
    /** Networks on which swaps are not served. */
    disabled: ReadonlySet<string>
    /** The operator's packages and pools, by network and name of the DEX. */
    dexes: ReadonlyMap<string, ReadonlyMap<string, DexConfig>>
    aggregators: readonly AggregatorConfig[]
    aggregatorBudgetMs: number
  }
>

export type DexConfig = Readonly<{ package: string | null; pools: readonly string[] }>

/** `key` is a secret, except for kyberswap, where it is our client name. null = no key is sent. */
export type AggregatorConfig = Readonly<{
  id: '0x' | 'openocean' | 'kyberswap' | 'jupiter' | 'cetus'
  key: string | null
  url: string | null
  /** Canonical, by network; replaces the addresses that the aggregator publishes. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/** Reads the key files as well, and adds a problem for each that cannot be read. */
export function toSwapConfig(swaps: StaticDecode<typeof swapsSchema>, problems: string[]): SwapConfig {
  const networks = Object.entries(swaps.networks)
  for (const [id, { feeAddress, tokens, connectors }] of networks) {
    const at = `swaps.networks.${id}`
    if (feeAddress !== undefined) readFeeAddress(problems, id, `${at}.feeAddress`, feeAddress)
    for (const [index, one] of tokens.entries())
      readAddress(problems, id, 'token', `${at}.tokens.${index}.address`, one.address)
    for (const [index, one] of connectors.entries())
      readAddress(problems, id, 'token', `${at}.connectors.${index}`, one)
  }
  return {
    quoteMs: swaps.quote,
    deadlineMs: swaps.deadline,
    droppedMs: swaps.dropped,
    feeAddressDelayMs: swaps.feeAddressDelay,
    impactMaxPpm: swaps.priceImpactMaxPercent,
    referenceLossMaxPpm: swaps.referenceLossMaxPercent,
    feeAddresses: new Map(networks.flatMap(([id, { feeAddress }]) => (feeAddress ? [[id, feeAddress] as const] : []))),
    tokens: new Map(networks.map(([id, { tokens }]) => [id, tokens])),
    connectors: new Map(networks.map(([id, { connectors }]) => [id, connectors])),
    lookupTables: new Map(networks.map(([id, { lookupTables }]) => [id, toLookupTables(id, lookupTables, problems)])),
    disabled: new Set(swapNetworks.filter((id) => !(swaps.networks[id]?.enabled ?? !unproven.has(id)))),
    dexes: new Map(networks.map(([id, { dexes }]) => [id, toDexes(id, dexes, problems)])),
    aggregators: toAggregators(swaps.aggregators, problems),
    aggregatorBudgetMs: swaps.aggregatorBudget,
    aggregatorGainBps: swaps.aggregatorMinGain,
  }
}

function toAggregators(
  { '0x': zeroX, openocean, kyberswap, jupiter, cetus }: StaticDecode<typeof aggregators>,
  problems: string[],
): AggregatorConfig[] {
  const configs: AggregatorConfig[] = []
  const add = (id: AggregatorConfig['id'], key: string | null, { url, contracts }: Endpoint) =>
    configs.push({ id, key, url: url ?? null, contracts: toContracts(id, contracts, problems) })
  const read = (path: string | undefined) => (path === undefined ? null : readKey(path, problems))
  if (zeroX) add('0x', read(zeroX.keyFile), zeroX)
  if (openocean) add('openocean', read(openocean.keyFile), openocean)
  if (kyberswap) add('kyberswap', kyberswap.client, kyberswap)
  if (jupiter) add('jupiter', read(jupiter.keyFile), jupiter)
  if (cetus) add('cetus', read(cetus.keyFile), cetus)
  return configs
}

function toLookupTables(network: string, tables: readonly string[], problems: string[]): readonly string[] {
  const path = `swaps.networks.${network}.lookupTables`
  if (tables.length > 0 && network !== 'sol') problems.push(`SWAPYARD_CONFIG: ${path}: ${network} has no lookup tables`)
  return tables.flatMap((one, index) => readAddress(problems, network, 'contract', `${path}.${index}`, one))
}

function toDexes(
  network: string,
  dexes: Readonly<Record<string, StaticDecode<typeof dex>>>,
  problems: string[],
): ReadonlyMap<string, DexConfig> {
  const known = dexNetworks.find((one) => one.network === network)?.dexes ?? []
  return new Map(
    Object.entries(dexes).map(([name, { package: factory, pools }]): [string, DexConfig] => {
      const path = `swaps.networks.${network}.dexes.${name}`
      if (!known.some((one) => one.name === name && one.pools !== undefined))
        problems.push(`SWAPYARD_CONFIG: ${path}: ${network} has no DEX of this name whose pools are listed`)
      const read = (use: AddressUse, at: string, text: string) =>
        readAddress(problems, network, use, `${path}.${at}`, text)
      return [
        name,
        {
          package: factory === undefined ? null : (read('contract', 'package', factory)[0] ?? null),
          pools: pools.flatMap((one, index) => read('pool', `pools.${index}`, one)),
        },
      ]
    }),
  )
}

type Endpoint = Readonly<{ url?: string; contracts: Readonly<Record<string, readonly string[]>> }>

function toContracts(id: string, byNetwork: Endpoint['contracts'], problems: string[]) {
  const path = `swaps.aggregators.${id}.contracts`
  return new Map(
    Object.entries(byNetwork).map(([network, addresses]): [string, readonly string[]] => [
      network,
      addresses.flatMap((text, index) =>
        readAddress(problems, network, 'contract', `${path}.${network}.${index}`, text),
      ),
    ]),
  )
}

/** The canonical address, or none with a problem added. */
function readAddress(
  problems: string[],
  network: string,
  use: AddressUse,
  path: string,
  text: string,
): readonly string[] {
  const canonical = parseSwapAddress(network, use, text)
  if (canonical === null)
    problems.push(`SWAPYARD_CONFIG: ${path} is not the address of a ${use} on ${network}: ${text}`)
  return canonical === null ? [] : [canonical]
}

/** The wrapped coin is no fee address: a fee in the native coin would be lost there. */
function readFeeAddress(problems: string[], network: string, path: string, text: string): void {
  const wrapped = dexNetworks.find((one) => one.network === network)?.wrapped
  for (const address of readAddress(problems, network, 'account', path, text))
    if (address === parseSwapAddress(network, 'token', wrapped ?? ''))
      problems.push(`SWAPYARD_CONFIG: ${path} is the wrapped coin of ${network}, which cannot hold fees: ${text}`)
}

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
