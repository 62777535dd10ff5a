import type { Hex } from 'viem'
import type { BalancerStablePool } from '../../swap/routing/pools/balancer-stable.ts'
import { addressOf, callOf, firstWord, listOf, wordAt, wordsOf } from './abi-words.ts'
import {
  FEE_CHANGED,
  type Holding,
  isSet,
  PAUSED_CHANGED,
  PAUSED_STATE,
  POOL_ID,
  readHoldings,
  SWAP_FEE,
  vaultDex,
} from './balancer-vault.ts'
import { readEach } from './block-reader.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

/** Emitted by the pool: AmpUpdateStarted(uint256,uint256,uint256,uint256), AmpUpdateStopped(uint256). */
const AMP_STARTED = '0x1835882ee7a34ac194f717a35e09bb1d24c82a3b9d854ab6c9749525b714cdf2'
const AMP_STOPPED = '0xa0d01593e47e69d07e0ccd87bece09411e07dd1ed40ca8f2e7af2976542a0233'
/** Composable pools: TokenRateCacheUpdated(uint256 indexed,uint256), TokenRateProviderSet(uint256 indexed,address indexed,uint256). */
const RATE_UPDATED = '0xb77a83204ca282e08dc3a65b0a1ca32ea4e6875c38ef0bf5bf75e52a67354fac'
const PROVIDER_SET = '0xdd6d1c9badb346de6925b358a472c937b41698d2632696759e43fd6527feeec4'
/** Meta-stable pools: PriceRateCacheUpdated(address indexed,uint256), PriceRateProviderSet(address indexed,address indexed,uint256). */
const META_RATE_UPDATED = '0xc1a224b14823b63c7711127f125fbf592434682f38881ebb61408747a303affc'
const META_PROVIDER_SET = '0xca6c2c5b6b44b5f3f0c08f0e28e5b6deda1cb38c3fe1113e8031d926c1e8c6d0'

/** getAmplificationParameter(): the value at the block's time, whether it is changing, and its precision. */
const AMP = '0x6daccffa'
const AMP_UNIT = 1_000n
/** getScalingFactors(): 10^(18 − decimals) × rate of each token. Pools of 2021 without rates do not have it. */
const SCALING = '0x1dd746ea'
const PROVIDERS = '0x238a2d59'
/** getTokenRateCache(address): rate, previous rate, duration, expiry. */
const RATE_CACHE = '0x7f1260d1'
/** getPriceRateCache(address), of meta-stable pools: rate, duration, expiry. */
const META_RATE_CACHE = '0xb867ee5a'
/** getRate() of a rate provider. */
const RATE = '0x679aefce'
const ONE = 10n ** 18n
/** A cached rate must be valid for this long, about the time that a swap takes to be mined. */
const RATE_VALID_SECONDS = 120

const base = vaultDex(
  [
    ...[FEE_CHANGED, PAUSED_CHANGED, AMP_STARTED, AMP_STOPPED],
    ...[RATE_UPDATED, PROVIDER_SET, META_RATE_UPDATED, META_PROVIDER_SET],
  ],
  readStable,
)

/** Stable, meta-stable and composable stable pools of Balancer's V2 vault. The pool token itself is not tradable. */
export const balancerStableDex: DexReader = {
  ...base,
  parseCreation: (log, dex, wrapped) => (dex.rounding === undefined ? null : base.parseCreation(log, dex, wrapped)),
}

const poolCalls = [POOL_ID, SWAP_FEE, PAUSED_STATE, AMP, SCALING, PROVIDERS] as const

async function readStable(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<(TrackedPool | null)[]> {
  const answers = await readEach(readContext.reader, at, identities, poolCalls)
  const ids = answers.map(([id]) => id)
  const [holdings, now] = await Promise.all([
    readHoldings(readContext, at, identities, ids),
    readContext.reader.minedAt(at),
  ])
  const providers = answers.map((own) => listOf(wordsOf(own[5] ?? '0x'), 0).map(addressOf))
  const rates = await readRates(readContext, at, now, identities, holdings, providers)
  return identities.map((one, place) => {
    const holding = holdings[place]
    const { rounding } = one.dex
    const own = answers[place]
    return holding && own && rounding ? stateOf(one, holding, own, rates[place] ?? [], rounding, now) : null
  })
}

/**
 * A token's rate in the pool's cache, and at its provider if the cache expires soon. Null for a token without a provider: its rate is
 * one.
 */
type TokenRate = Readonly<{ cached: bigint; expires: bigint; current: bigint | null }> | null

/** By pool and token position; undefined if there is a provider but the pool returns no cached rate. */
async function readRates(
  { reader }: ReadContext,
  at: string,
  now: number,
  identities: readonly PoolIdentity[],
  holdings: readonly (Holding | null)[],
  providers: readonly (readonly string[])[],
): Promise<readonly (readonly (TokenRate | undefined)[])[]> {
  const none = addressOf(0n)
  const requests = identities.flatMap(({ address }, place) =>
    (holdings[place]?.tokens ?? []).flatMap((token, position) => {
      const provider = providers[place]?.[position] ?? none
      return provider === none ? [] : [{ place, position, address, token, provider }]
    }),
  )
  const answers = await reader.read(
    at,
    requests.flatMap(({ address: to, token }) => [
      { to, calldata: callOf(RATE_CACHE, token) },
      { to, calldata: callOf(META_RATE_CACHE, token) },
    ]),
  )
  const cached = requests.map((request, index) => {
    const words = wordsOf(answers[2 * index] ?? answers[2 * index + 1] ?? '0x')
    const expires = wordAt(words, words.length === 3 ? 2 : 3)
    return { ...request, isKnown: words.length >= 3, rate: wordAt(words, 0), expires }
  })
  const current = await readProviders(
    reader,
    at,
    cached.flatMap(({ isKnown, expires, provider }) => (isKnown && !isFresh(expires, now) ? [provider] : [])),
  )
  const rates = holdings.map((holding) => (holding?.tokens ?? []).map((): TokenRate | undefined => null))
  for (const { place, position, provider, isKnown, rate, expires } of cached) {
    const list = rates[place]
    if (list !== undefined)
      list[position] = isKnown ? { cached: rate, expires, current: current.get(provider) ?? null } : undefined
  }
  return rates
}

const isFresh = (expires: bigint, now: number): boolean => expires > BigInt(now + RATE_VALID_SECONDS)

/** The creator of a pool chooses its rate providers, so each is asked apart from the others. */
async function readProviders(
  reader: ReadContext['reader'],
  at: string,
  providers: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const distinct = [...new Set(providers)]
  const answers = await reader.readSingly(
    at,
    distinct.map((to) => ({ to, calldata: RATE as Hex })),
  )
  return new Map(
    distinct.flatMap((provider, place) => {
      const rate = firstWord(answers[place])
      return rate === null ? [] : [[provider, rate] as const]
    }),
  )
}

function stateOf(
  { address, dex }: PoolIdentity,
  holding: Holding,
  [, fee, paused, amp, scaling]: readonly (Hex | null)[],
  rates: readonly (TokenRate | undefined)[],
  rounding: 'up' | 'down',
  now: number,
): TrackedPool | null {
  if (!fee || !amp || rates.includes(undefined)) return null
  const [value = 0n, isMoving = 0n, unit = 0n] = wordsOf(amp)
  if (value === 0n || unit !== AMP_UNIT) return null
  const factors = scaling ? listOf(wordsOf(scaling), 0) : null
  const scales = holding.factors.map((factor, place) => ({ factor: factor ?? 0n, rate: rates[place]?.cached ?? ONE }))
  // A pool with other scaling factors is of another kind. The list includes the pool token.
  const isTradable = (place: number) => holding.tokens[place] !== address
  const hasKnownScaling = scales.every(
    ({ factor, rate }, place) =>
      !isTradable(place) || (factor > 0n && (factors?.[place] ?? factor * ONE) === factor * rate),
  )
  const tradable = <T>(list: readonly T[]): readonly T[] => list.filter((_, place) => isTradable(place))
  if (!hasKnownScaling || tradable(holding.tokens).length < 2) return null
  const pool: BalancerStablePool = {
    kind: 'balancer-stable',
    vault: 'v2',
    rounding,
    id: holding.id,
    address: holding.vault,
    dex: dex.name,
    tokens: tradable(holding.tokens),
    balances: tradable(holding.balances),
    scales: tradable(scales),
    amp: value,
    swapFee: wordAt(wordsOf(fee), 0),
    aggregateFee: 0n,
  }
  const { isExact, until } = rateValidity(tradable(rates as readonly TokenRate[]), now)
  const holdsUntil = isMoving === 0n ? until : now + 1
  return {
    pool,
    ...(isSet(paused) || !isExact ? { idle: true } : {}),
    ...(holdsUntil === null ? {} : { holdsUntil }),
  }
}

/**
 * How long the cached rates are valid. The first swap after an expiry updates the rate from its provider. Until then the pool is
 * tradable only if the provider returns the cached rate.
 */
function rateValidity(rates: readonly TokenRate[], now: number): { isExact: boolean; until: number | null } {
  let isExact = true
  let until: number | null = null
  for (const rate of rates) {
    if (rate === null) continue
    const isValid = isFresh(rate.expires, now)
    if (!isValid && rate.current !== rate.cached) isExact = false
    // Unix seconds. An expiry after 4×10^9 (the year 2096) counts as never.
    const ends = isValid ? (rate.expires > 4_000_000_000n ? null : Number(rate.expires) - RATE_VALID_SECONDS) : now
    if (ends !== null) until = Math.min(until ?? ends, ends)
  }
  return { isExact, until }
}
