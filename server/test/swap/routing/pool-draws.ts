/* What all pools of drawn markets have in common. Equal seeds give equal pools. */

export const LOG_TICK = Math.log(1.0001)

/** Deterministic pseudo-random numbers from 0 to 1. */
export function createDraws(seed: number): () => number {
  let state = BigInt(seed) + 1n
  return () => {
    // Linear congruential generator with Knuth's MMIX constants.
    state = (state * 6364136223846793005n + 1442695040888963407n) % (1n << 64n)
    return Number(state >> 11n) / 2 ** 53
  }
}

/** Base units of an amount. */
export type Units = (amount: number) => bigint
/** 18 decimals, as most tokens of EVM networks have. */
export const units: Units = (amount) => BigInt(Math.floor(amount * 1e6)) * 10n ** 12n
/** 9 decimals, as SOL and SUI have. Tokens of their networks count in 64 bits. */
export const smallUnits: Units = (amount) => BigInt(Math.floor(amount * 1e6)) * 1_000n

export type Tier = Readonly<{ feePpm: number; tickSpacing: number }>
export type PoolDraw = Readonly<{
  id: string
  tokens: readonly [string, string]
  price: number
  value: number
  draw: () => number
}>

export const base = ({ id, tokens }: PoolDraw) => ({ id, address: id, dex: 'random', tokens })
export const oneOf = <T>(list: readonly [T, ...T[]], draw: () => number): T =>
  list[Math.floor(draw() * list.length)] ?? list[0]
