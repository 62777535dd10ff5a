import type { Hex } from 'viem'
import type { DexLog } from './logs.ts'
import type { DexReader, FoundPool, Ground } from './tracked.ts'
import { addressOf, callOf, listOf, wordAt, wordsOf } from './words.ts'

/** PoolCreated(address indexed), of a pool factory. */
const CREATED = '0x83a48fbcfc991335314e74d0496aab6a1987e992ddc85dddbcc4d6dd6ef2e9fc'
/** Of the vault, the pool's id first: Swap, PoolBalanceChanged, PoolBalanceManaged. */
const SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
const CHANGED = '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78'
const MANAGED = '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a'
/** SwapFeePercentageChanged(uint256), of the pool itself. */
export const FEE_CHANGED = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc'
/** PausedStateChanged(bool), of the pool itself. */
export const PAUSED_CHANGED = '0x9e3a5e37224532dea67b89face185703738a228a6e8a23dee546960180d3be64'

export const POOL_ID = '0x38fff2d0'
export const SWAP_FEE = '0x55c67628'
/** getPausedState(): true in its first word. */
export const PAUSED_STATE = '0x1c0de051'
const POOL_TOKENS = '0xf94d4668'
const DECIMALS = '0x313ce567'
/** Tokens with more are refused by the pools themselves. */
const DECIMALS_MAX = 18

/** What is the same of all pools of the V2 vault. Every log of a pool makes it be read again: a few calls tell all of it. */
export function vaultDex(ownTopics: readonly string[], readBase: DexReader['readBase']): DexReader {
  return {
    creation: ({ factory }) => ({ address: factory, topic: CREATED }),
    found({ topics }, dex) {
      if (topics[1] === undefined || dex.vault === undefined) return null
      const address = addressOf(BigInt(topics[1]))
      return { id: address, address, dex, tokens: [] }
    },
    lookUp: null,
    readBase,
    readTicks: null,
    topics: [SWAP, CHANGED, MANAGED, ...ownTopics],
    poolOf: (log: DexLog) =>
      ownTopics.includes(log.topics[0] ?? '') ? log.address : addressOf(BigInt(log.topics[1] ?? 0) >> 96n),
    apply: () => 'reread',
  }
}

/** What the vault holds for a pool, by place in its list. */
export type Holding = Readonly<{
  /** The pool's id in the vault; its own address is the front of it. */
  id: string
  vault: string
  tokens: readonly string[]
  balances: readonly bigint[]
  /** 10^(18 − decimals) of each token; null where a token does not say. */
  factors: readonly (bigint | null)[]
}>

/** `ids`: what the pools say their ids are. Null where the vault has no such pool. */
export async function readHoldings(
  { reader }: Ground,
  at: string,
  found: readonly FoundPool[],
  ids: readonly (Hex | null | undefined)[],
): Promise<readonly (Holding | null)[]> {
  const known = ids.map((id) => wordAt(wordsOf(id ?? '0x'), 0))
  const held = await reader.read(
    at,
    found.map(({ dex }, place) => ({
      to: dex.vault ?? dex.factory,
      calldata: callOf(POOL_TOKENS, known[place] ?? 0n),
    })),
  )
  const lists = held.map((answer) => {
    if (!answer) return null
    const words = wordsOf(answer)
    return { tokens: listOf(words, 0).map(addressOf), balances: listOf(words, 1) }
  })
  const tokens = [...new Set(lists.flatMap((list) => list?.tokens ?? []))]
  const decimals = await reader.read(
    at,
    tokens.map((to) => ({ to, calldata: DECIMALS })),
  )
  const factors = new Map(tokens.map((token, place) => [token, factorOf(decimals[place])]))
  return lists.map((list, place) => {
    if (list === null) return null
    const { dex } = found[place] as FoundPool
    return {
      id: `0x${(known[place] ?? 0n).toString(16).padStart(64, '0')}`,
      vault: dex.vault ?? dex.factory,
      ...list,
      factors: list.tokens.map((token) => factors.get(token) ?? null),
    }
  })
}

function factorOf(answer: Hex | null | undefined): bigint | null {
  const places = answer ? wordAt(wordsOf(answer), 0) : null
  return places === null || places > BigInt(DECIMALS_MAX) ? null : 10n ** (BigInt(DECIMALS_MAX) - places)
}

export const isSet = (answer: Hex | null | undefined): boolean =>
  Boolean(answer) && wordAt(wordsOf(answer ?? '0x'), 0) !== 0n
