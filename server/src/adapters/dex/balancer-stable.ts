import type { Hex } from 'viem'
import type { BalancerStablePool } from '../../swap/routing/pools/balancer-stable.ts'
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
import { readEach } from './calls.ts'
import type { DexReader, FoundPool, Ground, Tracked } from './tracked.ts'
import { addressOf, callOf, listOf, wordAt, wordsOf } from './words.ts'

/** Of the pool itself: AmpUpdateStarted(uint256,uint256,uint256,uint256), AmpUpdateStopped(uint256). */
const AMP_STARTED = '0x1835882ee7a34ac194f717a35e09bb1d24c82a3b9d854ab6c9749525b714cdf2'
const AMP_STOPPED = '0xa0d01593e47e69d07e0ccd87bece09411e07dd1ed40ca8f2e7af2976542a0233'
/** Composable pools: TokenRateCacheUpdated(uint256 indexed,uint256), TokenRateProviderSet(uint256 indexed,address indexed,uint256). */
const RATE_UPDATED = '0xb77a83204ca282e08dc3a65b0a1ca32ea4e6875c38ef0bf5bf75e52a67354fac'
const PROVIDER_SET = '0xdd6d1c9badb346de6925b358a472c937b41698d2632696759e43fd6527feeec4'
/** Meta-stable pools: PriceRateCacheUpdated(address indexed,uint256), PriceRateProviderSet(address indexed,address indexed,uint256). */
const META_RATE_UPDATED = '0xc1a224b14823b63c7711127f125fbf592434682f38881ebb61408747a303affc'
const META_PROVIDER_SET = '0xca6c2c5b6b44b5f3f0c08f0e28e5b6deda1cb38c3fe1113e8031d926c1e8c6d0'

/** getAmplificationParameter(): the value at the block's time, whether it is on its way, and the unit. */
const AMP = '0x6daccffa'
const AMP_UNIT = 1_000n
/** getScalingFactors(): 10^(18 − decimals) × rate of each token. Pools of 2021 without rates do not have it. */
const SCALING = '0x1dd746ea'
const PROVIDERS = '0x238a2d59'
/** getTokenRateCache(address): rate, rate before, duration, expiry. */
const RATE_CACHE = '0x7f1260d1'
/** getPriceRateCache(address), of meta-stable pools: rate, duration, expiry. */
const META_RATE_CACHE = '0xb867ee5a'
/** Of a provider. */
const RATE = '0x679aefce'
const ONE = 10n ** 18n
/** A kept rate is relied on until so long before it expires: about as long as a swap takes to get into a block. */
const RATE_AHEAD_S = 120

const base = vaultDex(
  [
    ...[FEE_CHANGED, PAUSED_CHANGED, AMP_STARTED, AMP_STOPPED],
    ...[RATE_UPDATED, PROVIDER_SET, META_RATE_UPDATED, META_PROVIDER_SET],
  ],
  readStable,
)

/** Stable, meta-stable and composable stable pools of Balancer's V2 vault. A pool's own token is not traded on. */
export const balancerStableDex: DexReader = {
  ...base,
  found: (log, dex, wrapped) => (dex.rounding === undefined ? null : base.found(log, dex, wrapped)),
}

const asked = [POOL_ID, SWAP_FEE, PAUSED_STATE, AMP, SCALING, PROVIDERS] as const

async function readStable(ground: Ground, at: string, found: readonly FoundPool[]): Promise<(Tracked | null)[]> {
  const told = await readEach(ground.reader, at, found, asked)
  const ids = told.map(([id]) => id)
  const [holdings, now] = await Promise.all([readHoldings(ground, at, found, ids), ground.reader.minedAt(at)])
  const providers = told.map((own) => listOf(wordsOf(own[5] ?? '0x'), 0).map(addressOf))
  const rates = await readRates(ground, at, found, holdings, providers)
  return found.map((one, place) => {
    const holding = holdings[place]
    const { rounding } = one.dex
    const own = told[place]
    return holding && own && rounding ? stateOf(one, holding, own, rates[place] ?? [], rounding, now) : null
  })
}

/** A token's rate as the pool keeps it and as its provider tells it. A token without a provider has neither: it counts as one. */
type TokenRate = Readonly<{ kept: bigint; expires: bigint; current: bigint | null }> | null

/** By pool and place; undefined where a provider is there and the pool does not say what it keeps. */
async function readRates(
  { reader }: Ground,
  at: string,
  found: readonly FoundPool[],
  holdings: readonly (Holding | null)[],
  providers: readonly (readonly string[])[],
): Promise<readonly (readonly (TokenRate | undefined)[])[]> {
  const none = addressOf(0n)
  const wanted = found.flatMap(({ address }, place) =>
    (holdings[place]?.tokens ?? []).flatMap((token, position) => {
      const provider = providers[place]?.[position] ?? none
      return provider === none ? [] : [{ place, position, address, token, provider }]
    }),
  )
  const answers = await reader.read(
    at,
    wanted.flatMap(({ address: to, token, provider }) => [
      { to, calldata: callOf(RATE_CACHE, token) },
      { to, calldata: callOf(META_RATE_CACHE, token) },
      { to: provider, calldata: RATE as Hex },
    ]),
  )
  const rates = holdings.map((holding) => (holding?.tokens ?? []).map((): TokenRate | undefined => null))
  for (const [index, { place, position }] of wanted.entries()) {
    const [cache, meta, current] = answers.slice(3 * index, 3 * index + 3)
    const words = wordsOf(cache ?? meta ?? '0x')
    const list = rates[place]
    if (list !== undefined)
      list[position] =
        words.length < 3
          ? undefined
          : {
              kept: wordAt(words, 0),
              expires: wordAt(words, words.length === 3 ? 2 : 3),
              current: current ? wordAt(wordsOf(current), 0) : null,
            }
  }
  return rates
}

function stateOf(
  { address, dex }: FoundPool,
  holding: Holding,
  [, fee, paused, amp, scaling]: readonly (Hex | null)[],
  rates: readonly (TokenRate | undefined)[],
  rounding: 'up' | 'down',
  now: number,
): Tracked | null {
  if (!fee || !amp || rates.includes(undefined)) return null
  const [value = 0n, isMoving = 0n, unit = 0n] = wordsOf(amp)
  if (value === 0n || unit !== AMP_UNIT) return null
  const factors = scaling ? listOf(wordsOf(scaling), 0) : null
  const scales = holding.factors.map((factor, place) => ({ factor: factor ?? 0n, rate: rates[place]?.kept ?? ONE }))
  // Who scales otherwise than we think is no pool of this kind. A pool's own token has a place there, too.
  const isOurs = (place: number) => holding.tokens[place] !== address
  const isKnown = scales.every(
    ({ factor, rate }, place) =>
      !isOurs(place) || (factor > 0n && (factors?.[place] ?? factor * ONE) === factor * rate),
  )
  const coins = <T>(list: readonly T[]): readonly T[] => list.filter((_, place) => isOurs(place))
  if (!isKnown || coins(holding.tokens).length < 2) return null
  const pool: BalancerStablePool = {
    kind: 'balancer-stable',
    vault: 'v2',
    rounding,
    id: holding.id,
    address: holding.vault,
    dex: dex.name,
    tokens: coins(holding.tokens),
    balances: coins(holding.balances),
    scales: coins(scales),
    amp: value,
    swapFee: wordAt(wordsOf(fee), 0),
    aggregateFee: 0n,
  }
  const { isExact, until } = lastingOf(coins(rates as readonly TokenRate[]), now)
  const holdsUntil = isMoving === 0n ? until : now + 1
  return {
    pool,
    ...(isSet(paused) || !isExact ? { idle: true } : {}),
    ...(holdsUntil === null ? {} : { holdsUntil }),
  }
}

/**
 * How long the kept rates hold. The first swap after a rate's expiry asks its provider: then the rate is foretold only where the
 * provider says what is kept already. Where it says another, the pool rests until somebody has made it ask.
 */
function lastingOf(rates: readonly TokenRate[], now: number): { isExact: boolean; until: number | null } {
  let isExact = true
  let until: number | null = null
  for (const rate of rates) {
    if (rate === null) continue
    const isFresh = rate.expires > BigInt(now + RATE_AHEAD_S)
    if (!isFresh && rate.current !== rate.kept) isExact = false
    // Seconds since 1970 while fresh: a duration of more than 10^9 of them is as good as for ever.
    const ends = isFresh ? (rate.expires > 4_000_000_000n ? null : Number(rate.expires) - RATE_AHEAD_S) : now
    if (ends !== null) until = Math.min(until ?? ends, ends)
  }
  return { isExact, until }
}
