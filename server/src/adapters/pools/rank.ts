import type { ListedPool } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { depthNetOfFee, depthOfPool, type PoolDepth } from './depth.ts'

/** The tokens that give pools their value, in lower case. Anybody can create any other token. */
export type ListedTokens = Readonly<{
  wrapped: string
  /** Connector tokens, with the wrapped native token. */
  connectors: ReadonlySet<string>
  /** Tokens of the published lists and of the operator, with the connector tokens. */
  listed: ReadonlySet<string>
}>

/**
 * `wei` per base unit of a token, by its deepest pool with a token whose value is known; `backing` is what lies against it there, in wei.
 * No amount of the token is worth more than its backing.
 */
export type TokenValue = Readonly<{ wei: number; backing: number }>
export type TokenValues = ReadonlyMap<string, TokenValue>

/** Tokens between the wrapped native token and a valued one. */
const ROUNDS = 4

export const isListed = ({ listed }: ListedTokens, tokens: readonly string[]): boolean =>
  tokens.every((token) => listed.has(token))

/** Values of the listed tokens, propagated from the wrapped native token through pools that hold listed tokens only. */
export function valuesOf(pools: readonly Pool[], listing: ListedTokens): TokenValues {
  const values = new Map<string, TokenValue>([[listing.wrapped, { wei: 1, backing: Number.POSITIVE_INFINITY }]])
  const measured = pools
    .filter(({ tokens }) => isListed(listing, tokens))
    .map((pool) => ({ pool, depth: depthNetOfFee(pool) }))
  for (let round = 0; round < ROUNDS; round++) {
    const best = new Map<string, TokenValue>()
    for (const { pool, depth } of measured) propagate(pool, depth, values, best)
    if (best.size === 0) break
    for (const [token, value] of best) values.set(token, value)
  }
  return values
}

function propagate(
  { tokens }: Pool,
  { amounts, units }: PoolDepth,
  values: TokenValues,
  best: Map<string, TokenValue>,
) {
  for (const [from, valued] of tokens.entries()) {
    const value = values.get(valued)
    if (value === undefined) continue
    const unitWei = value.wei * (units[from] ?? 0)
    for (const [to, token] of tokens.entries()) {
      if (to === from) continue
      const unit = units[to] ?? 0
      // Both sides count: an offer far from the price holds one token only and risks nothing.
      const wei = unitWei * Math.min((amounts[from] ?? 0) / (units[from] ?? 0), (amounts[to] ?? 0) / unit)
      const backing = Math.min(wei, value.backing)
      // A deeper pool replaces a value, also where more pools lie between: anyone can create a shallow pool with any price.
      const known = Math.max(values.get(token)?.backing ?? 0, best.get(token)?.backing ?? 0)
      if (backing > known && Number.isFinite(unitWei / unit)) best.set(token, { wei: unitWei / unit, backing })
    }
  }
}

/**
 * Usable liquidity of the poorer side of a pool, in wei, net of its fee. 0 if it holds no valued listed token, or a listed token without a
 * value. Each listed token counts up to its backing. An unlisted token counts at the pool's own price: it only lowers the result.
 */
export function worthOf(pool: Pool, values: TokenValues, listing: ListedTokens): number {
  const { amounts, units } = depthNetOfFee(pool)
  const reference = pool.tokens.findIndex((token) => values.has(token))
  if (reference === -1) return 0
  const unitWei = (values.get(pool.tokens[reference] as string)?.wei ?? 0) * (units[reference] ?? 0)
  const worths = pool.tokens.map((token, place) => {
    const amount = amounts[place] ?? 0
    if (!listing.listed.has(token)) return (unitWei * amount) / (units[place] ?? 0)
    const value = values.get(token)
    return value === undefined ? 0 : Math.min(amount * value.wei, value.backing)
  })
  const worth = Math.min(...worths)
  return Number.isFinite(worth) ? worth : 0
}

/** Whether the pool can pay any of its tokens, by what is read of it. */
export const hasLiquidity = (pool: Pool): boolean => depthOfPool(pool).amounts.some((amount) => amount > 0)

/** `unit`: base units of a dollar. */
export type Stablecoin = Readonly<{ token: string; unit: number }>

/** The value of one US dollar in wei; null without a price of the stablecoin. */
function weiPerUsd(values: TokenValues, stablecoin: Stablecoin | null): number | null {
  const wei = stablecoin === null ? undefined : values.get(stablecoin.token)?.wei
  return stablecoin === null || wei === undefined ? null : wei * stablecoin.unit
}

/** Usable liquidity by token in whole US dollars; empty without a stablecoin price. */
export function liquidityOf(
  pools: readonly Pool[],
  listing: ListedTokens,
  stablecoin: Stablecoin | null,
): ReadonlyMap<string, number> {
  const values = valuesOf(pools, listing)
  const perUsd = weiPerUsd(values, stablecoin)
  const liquidity = new Map<string, number>()
  if (perUsd === null) return liquidity
  for (const pool of pools) {
    const worth = worthOf(pool, values, listing) / perUsd
    for (const token of pool.tokens) liquidity.set(token, (liquidity.get(token) ?? 0) + worth)
  }
  return new Map([...liquidity].map(([token, worth]) => [token, Math.floor(worth)]))
}

/** All pools with their usable liquidity, at the values of those that routes use: a paused pool must not value itself. */
export function listPools(
  all: readonly Pool[],
  used: readonly Pool[],
  listing: ListedTokens,
  stablecoin: Stablecoin | null,
): readonly ListedPool[] {
  const values = valuesOf(used, listing)
  const perUsd = weiPerUsd(values, stablecoin)
  return all.map((pool) => {
    const { id, dex, tokens } = pool
    const dollars = perUsd === null ? null : Math.floor(worthOf(pool, values, listing) / perUsd)
    return { id, dex, tokens, dollars }
  })
}

/** Usable liquidity of the pools of listed tokens together, in wei. */
export function listedDepth(pools: readonly Pool[], listing: ListedTokens): number {
  const values = valuesOf(pools, listing)
  return pools.reduce((sum, pool) => sum + (isListed(listing, pool.tokens) ? worthOf(pool, values, listing) : 0), 0)
}
