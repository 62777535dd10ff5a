import type { Hex } from 'viem'
import type { BalancerWeightedPool } from '../../../domain/swap/pools/balancer-weighted.ts'
import type { DexReader, FoundPool, Ground, Tracked } from './tracked.ts'
import { addressOf, callOf, wordAt, wordsOf } from './words.ts'

/** PoolCreated(address indexed), of a pool factory. */
const CREATED = '0x83a48fbcfc991335314e74d0496aab6a1987e992ddc85dddbcc4d6dd6ef2e9fc'
/** Of the vault, the pool's id first: Swap, PoolBalanceChanged, PoolBalanceManaged. */
const SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
const CHANGED = '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78'
const MANAGED = '0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a'
/** SwapFeePercentageChanged(uint256), of the pool itself. */
const FEE = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc'
/** PausedStateChanged(bool), of the pool itself. */
const PAUSED = '0x9e3a5e37224532dea67b89face185703738a228a6e8a23dee546960180d3be64'
const POOL_ID = '0x38fff2d0'
const POOL_TOKENS = '0xf94d4668'
const WEIGHTS = '0xf89f27ed'
const SWAP_FEE = '0x55c67628'
const DECIMALS = '0x313ce567'
/** The pool's getPausedState(): false in its first word. */
const PAUSED_STATE = '0x1c0de051'
/** inRecoveryMode(): the pools of version 2 and later have it (factories since September 2022). */
const RECOVERY = '0xb35056b8'
const ONE = 10n ** 18n
const DECIMALS_MAX = 18

/** Weighted pools of Balancer's V2 vault. Every log of a pool makes it be read again: two calls tell all of it. */
export const balancerWeightedDex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  found({ topics }, dex) {
    if (topics[1] === undefined || dex.vault === undefined) return null
    const address = addressOf(BigInt(topics[1]))
    return { id: address, address, dex, tokens: [] }
  },
  lookUp: null,
  readBase: (ground, at, found) => readWeighted(ground, at, found),
  readTicks: null,
  topics: [SWAP, CHANGED, MANAGED, FEE, PAUSED],
  poolOf: ({ topics, address }) =>
    topics[0] === FEE || topics[0] === PAUSED ? address : addressOf(BigInt(topics[1] ?? 0) >> 96n),
  apply: () => 'reread',
}

/** The pool's own address is the front of its id in the vault. */
async function readWeighted({ reader }: Ground, at: string, found: readonly FoundPool[]): Promise<(Tracked | null)[]> {
  const own = [POOL_ID, WEIGHTS, SWAP_FEE, PAUSED_STATE, RECOVERY] as const
  const answers = await reader.read(
    at,
    found.flatMap(({ address: to }) => own.map((calldata) => ({ to, calldata }))),
  )
  const told = found.map((_, index) => answers.slice(own.length * index, own.length * (index + 1)))
  const ids = told.map(([id]) => wordAt(wordsOf(id ?? '0x'), 0))
  const held = await reader.read(
    at,
    found.map(({ dex }, index) => ({ to: dex.vault ?? dex.factory, calldata: callOf(POOL_TOKENS, ids[index] ?? 0n) })),
  )
  const holdings = held.map((answer) => (answer ? readHoldings(wordsOf(answer)) : null))
  const tokens = [...new Set(holdings.flatMap((holding) => holding?.tokens ?? []))]
  const decimals = await reader.read(
    at,
    tokens.map((to) => ({ to, calldata: DECIMALS })),
  )
  const decimalsOf = new Map(
    tokens.map((token, index) => [token, decimals[index] ? Number(wordAt(wordsOf(decimals[index] ?? '0x'), 0)) : null]),
  )
  return found.map(({ dex }, index) => {
    const holding = holdings[index]
    const [, normalized, fee, paused, recovery] = told[index] ?? []
    const weights = listOf(wordsOf(normalized ?? '0x'), 0)
    const scales = holding?.tokens.flatMap((token) => {
      const places = decimalsOf.get(token)
      return places === null || places === undefined || places > DECIMALS_MAX
        ? []
        : [{ factor: 10n ** BigInt(DECIMALS_MAX - places), rate: ONE }]
    })
    if (!holding || !fee || isSet(paused) || !scales || scales.length !== weights.length || weights.length < 2)
      return null
    const pool: BalancerWeightedPool = {
      kind: 'balancer-weighted',
      vault: 'v2',
      id: `0x${(ids[index] ?? 0n).toString(16).padStart(64, '0')}`,
      address: dex.vault ?? dex.factory,
      dex: dex.name,
      tokens: holding.tokens,
      balances: holding.balances,
      weights,
      scales,
      swapFee: wordAt(wordsOf(fee), 0),
      aggregateFee: 0n,
      shortcuts: Boolean(recovery),
    }
    return { pool }
  })
}

const isSet = (answer: Hex | null | undefined): boolean => Boolean(answer) && wordAt(wordsOf(answer ?? '0x'), 0) !== 0n

function readHoldings(words: readonly bigint[]) {
  return { tokens: listOf(words, 0).map(addressOf), balances: listOf(words, 1) }
}

/** A list of words whose place stands in the n-th word. */
function listOf(words: readonly bigint[], place: number): readonly bigint[] {
  const start = Number(wordAt(words, place) / 32n)
  return words.slice(start + 1, start + 1 + Number(wordAt(words, start)))
}
