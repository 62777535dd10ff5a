import type { Hex } from 'viem'
import { addressOf, callOf, firstWord, listOf, numberOf, wordAt, wordsOf } from './abi-words.ts'
import { readEach } from './block-reader.ts'
import { poolIdentity } from './pool-identity.ts'
import type { DexReader, PoolIdentity, ReadContext } from './tracked-pool.ts'

/** PoolCreated(address indexed), emitted by a pool factory. */
const CREATED = '0x83a48fbcfc991335314e74d0496aab6a1987e992ddc85dddbcc4d6dd6ef2e9fc'
/** Emitted by the vault, with the pool's id as the first topic: Swap, PoolBalanceChanged, PoolBalanceManaged. */
const SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
const CHANGED = '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78'
const MANAGED = '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a'
/** SwapFeePercentageChanged(uint256), emitted by the pool. */
export const FEE_CHANGED = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc'
/** PausedStateChanged(bool), emitted by the pool. */
export const PAUSED_CHANGED = '0x9e3a5e37224532dea67b89face185703738a228a6e8a23dee546960180d3be64'

export const POOL_ID = '0x38fff2d0'
export const SWAP_FEE = '0x55c67628'
/** getPausedState(): the first word is the pause. */
export const PAUSED_STATE = '0x1c0de051'
const POOL_TOKENS = '0xf94d4668'
const DECIMALS = '0x313ce567'
/** The pools reject tokens with more decimals. */
const DECIMALS_MAX = 18

/** Common to all pools of the V2 vault. Every log of a pool triggers a full read, because a few calls return the whole state. */
export function vaultDex(poolTopics: readonly string[], readBase: DexReader['readBase']): DexReader {
  return {
    creation: ({ factory }) => ({ address: factory, topic: CREATED }),
    parseCreation({ topics }, dex) {
      if (topics[1] === undefined || dex.vault === undefined) return null
      return poolIdentity(addressOf(BigInt(topics[1])), dex, [])
    },
    resolve: resolveTokens,
    readBase,
    topics: [SWAP, CHANGED, MANAGED, ...poolTopics],
    poolOf: (log) =>
      poolTopics.includes(log.topics[0] ?? '') ? log.address : addressOf(BigInt(log.topics[1] ?? 0) >> 96n),
    apply: () => 'reread',
  }
}

/**
 * The log of a new pool does not contain its tokens. The factory's pool and the vault return them without a call to them, so that
 * pools of unlisted tokens are skipped before any code of a stranger is executed.
 */
async function resolveTokens(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<readonly PoolIdentity[]> {
  const unresolved = identities.filter(({ tokens }) => tokens.length === 0)
  const ids = (await readEach(readContext.reader, at, unresolved, [POOL_ID])).map(([id]) => id)
  const lists = await readTokens(readContext, at, unresolved, ids)
  const resolved = unresolved.map((one, place) => ({
    ...one,
    tokens: (lists[place]?.tokens ?? []).filter((token) => token !== one.address),
  }))
  return [...identities, ...resolved].filter(({ tokens }) => tokens.length > 0)
}

/** A pool's tokens in the vault, in the vault's order. */
export type Holding = Readonly<{
  /** The pool's id in the vault; its first 20 bytes are the pool's address. */
  id: string
  vault: string
  tokens: readonly string[]
  balances: readonly bigint[]
  /** 10^(18 − decimals) of each token; null if a token returns no decimals. */
  factors: readonly (bigint | null)[]
}>

type Ids = readonly (Hex | null | undefined)[]
const wordOfId = (id: Ids[number]): bigint => wordAt(wordsOf(id ?? '0x'), 0)

async function readTokens({ reader }: ReadContext, at: string, identities: readonly PoolIdentity[], ids: Ids) {
  const answers = await reader.read(
    at,
    identities.map(({ dex }, place) => ({
      to: dex.vault ?? dex.factory,
      calldata: callOf(POOL_TOKENS, wordOfId(ids[place])),
    })),
  )
  return answers.map((answer) => {
    if (!answer) return null
    const words = wordsOf(answer)
    return { tokens: listOf(words, 0).map(addressOf), balances: listOf(words, 1) }
  })
}

/** `ids`: the answers of the pools to getPoolId(). Null if the vault has no such pool. */
export async function readHoldings(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
  ids: Ids,
): Promise<readonly (Holding | null)[]> {
  const lists = await readTokens(readContext, at, identities, ids)
  const tokens = [...new Set(lists.flatMap((list) => list?.tokens ?? []))]
  const decimals = await readContext.reader.read(
    at,
    tokens.map((to) => ({ to, calldata: DECIMALS })),
  )
  const factors = new Map(tokens.map((token, place) => [token, factorOf(decimals[place])]))
  return lists.map((list, place) => {
    if (list === null) return null
    const { dex } = identities[place] as PoolIdentity
    return {
      id: `0x${wordOfId(ids[place]).toString(16).padStart(64, '0')}`,
      vault: dex.vault ?? dex.factory,
      ...list,
      factors: list.tokens.map((token) => factors.get(token) ?? null),
    }
  })
}

function factorOf(answer: Hex | null | undefined): bigint | null {
  const decimals = firstWord(answer)
  return decimals === null || decimals > BigInt(DECIMALS_MAX) ? null : 10n ** (BigInt(DECIMALS_MAX) - decimals)
}

export const isSet = (answer: Hex | null | undefined): boolean => numberOf(answer) !== 0n
