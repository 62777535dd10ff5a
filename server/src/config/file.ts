import { readFileSync } from 'node:fs'
import Type, { type StaticDecode } from 'typebox'
import Value from 'typebox/value'
import { currencies } from '../../currencies/index.ts'
import { networks as definitions } from '../../networks/index.ts'
import { defaultSpreads, type SpreadPolicy } from '../core/domain/book.ts'
import { exchangeFamilies } from '../core/domain/network.ts'
import type { OutputSettings } from '../exchange/domain/output-plan.ts'
import {
  type GuardSettings,
  guardDefaults,
  type PrivacySettings,
  privacyDefaults,
  type ServiceSettings,
  USD,
} from '../exchange/settings.ts'
import { isRecord } from '../lib/is-record.ts'
import { type NodeEndpoint, urlOf } from '../lib/node-endpoint.ts'
import { type AdminSettings, adminSchema, toAdminSettings } from './admin.ts'
import { bitcoinSchema, toOutputSettings } from './bitcoin.ts'
import { findWrongDenied } from './denied.ts'
import { guardsSchema, toGuardSettings } from './guards.ts'
import { findRemoteDaemons, moneroSchema } from './monero.ts'
import { findWrongHeaders, nodeHeaders, toEndpoints } from './node-headers.ts'
import {
  expandSources,
  findPriceContradictions,
  findUnsafePrices,
  type PriceConfig,
  pricesSchema,
  toPriceConfig,
} from './prices.ts'
import {
  byAsset,
  byNetwork,
  decode,
  duration,
  httpUrl,
  integer,
  object,
  oneOf,
  optionalDuration,
  scaled,
  section,
  whole,
} from './schema.ts'
import { findWrongLimits, type SignerLimits } from './signer-limits.ts'
import { type SwapConfig, swapsSchema, toSwapConfig } from './swaps.ts'

/** By asset id: taken off the offer, another rank, another code in the rates feed. */
export type CurrencyOverrides = ReadonlyMap<string, Readonly<{ enabled?: boolean; rank?: number; feedCode?: string }>>

/** Of a Monero wallet: the block from which it scans, and how many outputs it keeps. */
export type WalletSettings = Readonly<{ restoreHeight: number; outputsReady: number }>

/** `traces` is false where the operator accepts that no node of an EVM network offers traces. */
export type NetworkSettings = Readonly<{ rpcUrls: readonly NodeEndpoint[]; traces: boolean }>

/** The settings of the config file, with the defaults of all that it does not set. */
export type FileConfig = Readonly<{
  /** The file as it was written, with the defaults of the sandbox. It contains secrets. */
  given: Readonly<Record<string, unknown>>
  environment: 'production' | 'sandbox'
  networks: ReadonlyMap<string, NetworkSettings>
  currencies: CurrencyOverrides
  /** null = the sandbox's own prices, which are not real. */
  prices: PriceConfig | null
  /** As `network:address`. */
  denied: readonly string[]
  /** As `network:address`. */
  coldAddresses: readonly string[]
  fundingsAreCapital: boolean
  spreads: SpreadPolicy
  clocks: Readonly<{ rateIdMs: number; fixedLockMs: number; expiryMs: number; stuckMs: number; drainMs: number }>
  guards: GuardSettings
  outputs: OutputSettings
  privacy: PrivacySettings
  monero: WalletSettings & Readonly<{ acceptRemoteDaemons: boolean }>
  /** US dollars scaled by 10^12. */
  limits: ServiceSettings['limits']
  signerLimits: SignerLimits
  swaps: SwapConfig
  partners: Readonly<{ feeBps: number; openExchangesMax: number; rateLimitPerMinute: number }>
  admin: AdminSettings
}>

const SPREAD_BPS_MAX = 5_000
const PRIVACY_BPS_MAX = 500
const PPM_PER_BPS = 100
const LIMIT_USD_MAX = 1_000_000_000_000

const spread = (defaultBps: number, description: string) => whole(defaultBps, [0, SPREAD_BPS_MAX], description)
const dollars = (defaultUsd: number, description: string) =>
  Type.Decode(whole(defaultUsd, [1, LIMIT_USD_MAX], description), (usd) => BigInt(usd) * USD)
const coins = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,29})(\\.[0-9]{1,30})?$', maxLength: 64, description })

const network = object({
  rpcUrls: Type.Array(httpUrl(), {
    minItems: 1,
    maxItems: 8,
    description: 'URLs of its nodes. All of them must agree before money moves; use two or more',
  }),
  headers: Type.Optional(nodeHeaders),
  traces: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'EVM networks: the program does not start if no node offers traces (`trace_block` or `debug_traceBlockByHash`). `false` accepts that, and then deposits of the native currency that a contract sends are not recorded',
    }),
  ),
})

const currency = object({
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether it can be exchanged' })),
  rank: Type.Optional(integer([0, 1_000_000], 'Position in lists; replaces the built-in rank')),
  feedCode: Type.Optional(
    Type.String({ pattern: '^[A-Z0-9]{2,20}$', description: 'Code in the rates feed; replaces the derived code' }),
  ),
})

/** In coins and not in dollars: the signer trusts no price. */
const signerLimit = object({
  transaction: coins('The largest payout that this worker signs, in coins'),
  hour: coins('The most that it signs in one hour, by its own journal, in coins'),
  day: coins('The most that it signs in 24 hours, by its own journal, in coins'),
})

const clocks = section({
  rateId: duration(60_000, 'Lifetime of a rateId'),
  fixedLock: duration(20 * 60_000, 'A fixed rate holds if the deposit is first seen within this time'),
  fixedInclusion: optionalDuration(
    'A payment that was first seen in the mempool keeps its fixed rate if it is in a block within this time. Unset: three block intervals of its network, at least 5 and at most 60 minutes',
  ),
  reserveWait: duration(
    guardDefaults.reserveWaitMs,
    'A deposit that was within the bounds at its create waits this long for the reserve before it is refunded',
  ),
  expiry: duration(24 * 3_600_000, 'An exchange without a deposit fails after this time'),
  stuck: duration(
    10 * 60_000,
    'An unconfirmed transaction gets a higher fee after this time, but not before four block intervals of its network on the bitcoin family, and 20 elsewhere',
  ),
  drain: duration(
    5_000,
    'After SIGTERM the API still accepts requests for this time, while readiness reports false; `0s` in the sandbox',
    '^(0|[1-9][0-9]{0,8})(ms|s|m|h|d)$',
  ),
})

/** Each private exchange draws its own values within these bounds (docs/private-exchanges.md). */
const privacy = section({
  delay: duration(
    privacyDefaults.delayMaxMs,
    'The longest random wait before each payout of a private exchange; `2s` in the sandbox',
  ),
  withheldBps: scaled(
    PPM_PER_BPS,
    privacyDefaults.withheldMaxPpm,
    [1, PRIVACY_BPS_MAX],
    'The largest random part of the intermediary amount that is withheld from its payment on chain, in basis points',
  ),
  payoutBps: scaled(
    PPM_PER_BPS,
    privacyDefaults.payoutMaxPpm,
    [0, PRIVACY_BPS_MAX],
    'The largest random change of the amount that the recipient gets, up or down, in basis points. The average change is 0; a larger bound makes payouts harder to match',
  ),
  stall: duration(
    privacyDefaults.stallMs,
    'A leg that cannot be paid for this time is returned in the source currency',
  ),
})

const limits = section({
  perTransactionUsd: dollars(250_000, 'The largest single payout, in US dollars; a larger one waits for the operator'),
  hourUsd: dollars(
    2_500_000,
    'The largest outflow in one hour, in US dollars: in total and per asset. Refunds are counted apart from payouts, each up to this limit. A private exchange counts twice, once per leg',
  ),
  dayUsd: dollars(10_000_000, 'The largest outflow in 24 hours, in US dollars, counted in the same way'),
  partnerPercent: whole(
    25,
    [1, 100],
    'Share of the hourly and daily limits that one partner may use, in percent. Quotes promise no payout above it, less 1 %',
  ),
  networkPercent: whole(
    100,
    [1, 100],
    'Share of the hourly and daily limits that the hot wallet of one network may pay, in percent. Quotes promise no payout above it, less 1 %',
  ),
  recipientPercent: whole(
    25,
    [1, 100],
    'Share of the hourly and daily limits that payouts to one recipient (an address, with its memo if it has one) may use, in percent. Quotes promise no payout above it, less 1 %. Payouts of balances do not count for it',
  ),
})

const partners = section(
  {
    feeBps: whole(0, [0, 1_000], 'Fee of a new partner, in basis points'),
    openExchangesMax: whole(10_000, [1, 1_000_000], 'Number of exchanges that a partner can have open at once'),
    rateLimitPerMinute: whole(6_000, [1, 10_000_000], 'Weighted requests per minute'),
  },
  'Defaults of `swapyard partners add`',
)

/** The file that SWAPYARD_CONFIG names. */
export const fileSchema = object({
  environment: oneOf(['production', 'sandbox'], 'production', 'The environment that the file configures'),
  networks: byNetwork(network),
  currencies: byAsset(currency),
  prices: Type.Optional(pricesSchema),
  treasury: section({
    fundingsAreCapital: Type.Boolean({
      default: false,
      description:
        'Books coins that arrive at a hot wallet for no exchange as your capital at once. By default they are unclaimed until `swapyard fundings claim`, because a customer may have sent them by mistake. The sandbox books them at once',
    }),
    coldAddresses: Type.Array(Type.String({ pattern: '^[a-z0-9]{2,12}:\\S{1,256}$' }), {
      default: [],
      maxItems: 1_000,
      description:
        'Addresses of your cold wallets, as `network:address`. `swapyard treasury` withdraws capital to these only',
    }),
  }),
  screening: Type.Optional(
    object({
      denied: Type.Array(Type.String({ pattern: '^[a-z0-9]{2,12}:\\S{1,256}$' }), {
        maxItems: 100_000,
        description:
          'Addresses that are never served, as `network:address`. Entries of `ton`, `trx`, `xlm` and `xrp`, which are neither exchanged nor swapped, are not checked for mistakes',
      }),
    }),
  ),
  spreads: section({
    stableBps: spread(defaultSpreads.bps.stable, 'Spread where both assets are stablecoins, in basis points'),
    majorBps: spread(
      defaultSpreads.bps.major,
      'Spread where the riskier of the two assets is a major coin, in basis points',
    ),
    minorBps: spread(defaultSpreads.bps.minor, 'Spread of all other pairs, in basis points'),
    fixedRateExtraBps: spread(defaultSpreads.fixedRateExtraBps, 'Added to the spread at a fixed rate, in basis points'),
  }),
  clocks,
  guards: guardsSchema,
  privacy,
  bitcoin: bitcoinSchema,
  monero: moneroSchema,
  limits,
  signer: section({ limits: byAsset(signerLimit) }),
  swaps: swapsSchema,
  partners,
  admin: adminSchema,
})

/** Defaults of the sandbox that differ from production: a developer waits neither for a load balancer nor for privacy. */
const sandboxDefaults = Type.Object({
  clocks: Type.Object({ drain: Type.String({ default: '0s' }) }, { default: {} }),
  privacy: Type.Object({ delay: Type.String({ default: '2s' }) }, { default: {} }),
  bitcoin: Type.Object({ outputsReady: Type.Integer({ default: 1 }) }, { default: {} }),
  admin: Type.Object(
    { enabled: Type.Boolean({ default: true }), twoPersons: Type.Boolean({ default: false }) },
    { default: {} },
  ),
})
const sandboxFile = Type.Object({ environment: Type.Literal('sandbox') })

const SOURCE = 'SWAPYARD_CONFIG'

/** Reads and checks the config file. Without a path the result is the sandbox with its defaults. */
export function readConfigFile(path: string | undefined, problems: string[]): FileConfig {
  const content = expandSources(path === undefined ? { environment: 'sandbox' } : readJson(path, problems))
  const isSandbox = Value.Check(sandboxFile, content)
  const given = isSandbox ? Value.Default(sandboxDefaults, content) : (content ?? {})
  const decoded = decode(fileSchema, given)
  const { value, isInvalid } = decoded
  for (const problem of decoded.problems) problems.push(`${SOURCE}: ${problem.path || 'the file'} ${problem.message}`)
  problems.push(...findWrongHeaders(SOURCE, value.networks))
  problems.push(...findWrongDenied(SOURCE, value.environment, value.screening?.denied ?? []))
  if (content !== undefined && value.environment === 'production') {
    if (Object.keys(value.networks).length === 0 && !isInvalid('networks'))
      problems.push(`${SOURCE}: networks is missing: at least one, with its rpcUrls`)
    if (value.prices === undefined && !isInvalid('prices'))
      problems.push(`${SOURCE}: prices is missing: its sources, and the quorum of them that must agree`)
  }
  const config = { ...toFileConfig(value, problems), given: isRecord(given) ? given : {} }
  if (config.prices !== null) {
    const unsafe = config.environment === 'production' ? findUnsafePrices(config.prices) : []
    const found = [...findPriceContradictions(config.prices), ...unsafe]
    problems.push(...found.map((problem) => `${SOURCE}: ${problem}`))
  }
  problems.push(...findWrongLimits(SOURCE, config.signerLimits))
  if (config.environment === 'production' && !isInvalid('signer')) problems.push(...findMissingLimits(config))
  if (config.environment === 'production') problems.push(...findRemoteDaemons(SOURCE, config))
  if (config.environment === 'production') problems.push(...findSingleNodes(config))
  return config
}

const NODES_MIN = 2

const isExchanged = (network: string): boolean => {
  const family = definitions.find(({ id }) => id === network)?.family
  return exchangeFamilies.some((one) => one === family)
}

const listOfNetworks = ({ networks }: Pick<FileConfig, 'networks'>) =>
  currencies.filter(({ network }) => networks.has(network) && isExchanged(network))

/** The currencies that the configuration offers for exchanges. */
export const listOffered = (config: Pick<FileConfig, 'networks' | 'currencies'>) =>
  listOfNetworks(config).filter(
    ({ ticker, network }) => config.currencies.get(`${ticker}@${network}`)?.enabled !== false,
  )

/**
 * The signer's own limits are the last ones that hold when the database is in the hands of others. A wallet can still hold a
 * currency that is no longer on offer.
 */
function findMissingLimits(config: FileConfig): readonly string[] {
  const ids = listOfNetworks(config).map(({ ticker, network }) => `${ticker}@${network}`)
  const missing = ids.filter((id) => !config.signerLimits.has(id))
  if (missing.length === 0) return []
  return [
    `${SOURCE}: signer.limits lacks ${missing.join(', ')}: in production every currency of a configured network needs its limits, whether it is on offer or not`,
  ]
}

/** Networks of swaps that every node must confirm, because nothing else tells whether a node is right. */
function findSingleNodes({ networks, swaps }: FileConfig): readonly string[] {
  return ['sol', 'sui']
    .filter((id) => !swaps.disabled.has(id) && new Set(networks.get(id)?.rpcUrls.map(urlOf)).size < NODES_MIN)
    .map((id) => `${SOURCE}: swaps.networks.${id} is enabled: networks.${id}.rpcUrls needs two nodes or more`)
}

function readJson(path: string, problems: string[]): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    problems.push(`${SOURCE}: ${path} ${error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}`)
    return undefined
  }
}

function toFileConfig(file: StaticDecode<typeof fileSchema>, problems: string[]): Omit<FileConfig, 'given'> {
  const { spreads, clocks: times, guards, privacy: bounds } = file
  return {
    environment: file.environment,
    networks: new Map(
      Object.entries(file.networks).map(([network, one]) => [
        network,
        { rpcUrls: toEndpoints(one), traces: one.traces ?? true },
      ]),
    ),
    currencies: new Map(Object.entries(file.currencies)),
    prices: file.prices === undefined ? null : toPriceConfig(file.prices),
    denied: file.screening?.denied ?? [],
    coldAddresses: file.treasury.coldAddresses,
    fundingsAreCapital: file.treasury.fundingsAreCapital,
    spreads: {
      bps: { stable: spreads.stableBps, major: spreads.majorBps, minor: spreads.minorBps },
      fixedRateExtraBps: spreads.fixedRateExtraBps,
    },
    clocks: {
      rateIdMs: times.rateId,
      fixedLockMs: times.fixedLock,
      expiryMs: times.expiry,
      stuckMs: times.stuck,
      drainMs: times.drain,
    },
    guards: toGuardSettings(guards, times),
    privacy: {
      delayMaxMs: bounds.delay,
      withheldMaxPpm: bounds.withheldBps,
      payoutMaxPpm: bounds.payoutBps,
      stallMs: bounds.stall,
    },
    outputs: toOutputSettings(file.bitcoin),
    monero: file.monero,
    limits: file.limits,
    signerLimits: new Map(Object.entries(file.signer.limits)),
    swaps: toSwapConfig(file.swaps, problems),
    partners: file.partners,
    admin: toAdminSettings(file.admin, problems),
  }
}
