import { encodeAbiParameters, type Hex, keccak256 } from 'viem'
import type { UniswapV4Pool } from '../../swap/routing/pools/uniswap-v4.ts'
import { isConcentrated } from '../pools/concentrated-pool.ts'
import { addressOf, callOf, firstWord, numberOf, signed, toWord, wordAt, wordsOf } from './abi-words.ts'
import type { BlockReader } from './block-reader.ts'
import { afterLiquidity, afterSwap, readTicksOf } from './ticks.ts'
import type { DexReader, PoolIdentity, TrackedPool } from './tracked-pool.ts'
import { small } from './uniswap-v3.ts'

/** Initialize(bytes32 indexed,address indexed,address indexed,uint24,int24,address,uint160,int24) */
const INITIALIZED = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438'
/** Swap(bytes32 indexed,address indexed,int128,int128,uint160,uint128,int24,uint24) */
const SWAP = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f'
/** ModifyLiquidity(bytes32 indexed,address indexed,int24,int24,int256,bytes32) */
const MODIFY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
/** ProtocolFeeUpdated(bytes32 indexed,uint24) */
const PROTOCOL_FEE = '0xe9c42593e71f84403b84352cd168d693e2c9fcd1fdbcc3feb21d92b43e6696f9'
/** extsload(bytes32) */
const LOAD = '0x1e2eaeaf'
/** The storage slot of `pools` in PoolManager, and the offsets of liquidity, ticks and bitmap in a pool (StateLibrary). */
const POOLS_SLOT = 6n
const LIQUIDITY_OFFSET = 3n
const TICKS_OFFSET = 4n
const BITMAP_OFFSET = 5n
/** LPFeeLibrary.DYNAMIC_FEE_FLAG: a hook sets the fee. */
const DYNAMIC_FEE = 0x800000
const KEYS = [
  [100, 1],
  [500, 10],
  [3_000, 60],
  [10_000, 200],
] as const

export const uniswapV4Dex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: INITIALIZED }),
  parseCreation({ topics, fields }, dex, wrapped) {
    const [, id, currency0, currency1] = topics
    if (id === undefined || currency0 === undefined || currency1 === undefined) return null
    const words = wordsOf(fields)
    const fee = Number(wordAt(words, 0))
    if (wordAt(words, 2) !== 0n || fee === DYNAMIC_FEE) return null
    const currencies = [addressOf(BigInt(currency0)), addressOf(BigInt(currency1))] as const
    // Native against wrapped native: both are one token for the route search.
    if (BigInt(currency0) === 0n && currencies[1] === wrapped) return null
    return poolIdentity(id, dex, currencies, wrapped, fee, small(wordAt(words, 1)))
  },
  async lookUp({ wrapped }, _at, dex, pairs) {
    const native = addressOf(0n)
    const allPairs = pairs.flatMap(([a, b]): (readonly [string, string])[] =>
      a === wrapped || b === wrapped
        ? [
            [a, b],
            [native, a === wrapped ? b : a],
          ]
        : [[a, b]],
    )
    // `readBase` omits the pools that do not exist.
    return allPairs.flatMap(([a, b]) =>
      KEYS.map(([fee, spacing]) => poolIdentity(poolIdOf(a, b, fee, spacing), dex, [a, b], wrapped, fee, spacing)),
    )
  },
  async readBase({ reader }, at, identities) {
    const calls = identities.flatMap(({ id, address: to }) => [
      { to, calldata: callOf(LOAD, slotOf(id)) },
      { to, calldata: callOf(LOAD, slotOf(id) + LIQUIDITY_OFFSET) },
    ])
    const answers = await reader.read(at, calls)
    return identities.map((one, index) => {
      const slot = numberOf(answers[2 * index])
      const sqrtPrice = slot & ((1n << 160n) - 1n)
      if (sqrtPrice === 0n) return null
      const pool: UniswapV4Pool = {
        kind: 'uniswap-v4',
        id: one.id,
        address: one.address,
        dex: one.dex.name,
        tokens: one.tokens,
        ...(one.native === true ? { native: true } : {}),
        lpFeePpm: Number((slot >> 208n) & 0xffffffn),
        protocolFeePpm: protocolFees((slot >> 184n) & 0xffffffn),
        sqrtPrice,
        tick: small(slot >> 160n),
        liquidity: numberOf(answers[2 * index + 1]) & ((1n << 128n) - 1n),
        tickSpacing: one.tickSpacing ?? 60,
        ticks: [],
      }
      return { pool }
    })
  },
  async readTicks({ reader }, at, tracked) {
    return isConcentrated(tracked.pool) ? readTicksOf(tracked.pool, storageOf(reader, at, tracked.pool)) : tracked
  },
  tickSource: ({ reader }, at, pool) => storageOf(reader, at, pool),
  topics: [SWAP, MODIFY, PROTOCOL_FEE],
  poolOf: ({ topics }) => topics[1] ?? '',
  apply(tracked, { topics, fields }): TrackedPool | 'reread' {
    const words = wordsOf(fields)
    if (topics[0] === SWAP) return afterSwap(tracked, wordAt(words, 2), wordAt(words, 3), small(wordAt(words, 4)))
    if (topics[0] === MODIFY)
      return afterLiquidity(tracked, small(wordAt(words, 0)), small(wordAt(words, 1)), signed(wordAt(words, 2), 256))
    if (topics[0] !== PROTOCOL_FEE || tracked.pool.kind !== 'uniswap-v4') return 'reread'
    return { ...tracked, pool: { ...tracked.pool, protocolFeePpm: protocolFees(wordAt(words, 0)) } }
  },
}

function poolIdentity(
  id: string,
  dex: PoolIdentity['dex'],
  tokens: readonly [string, string],
  wrapped: string,
  feePpm: number,
  tickSpacing: number,
): PoolIdentity {
  const native = tokens[0] === addressOf(0n)
  const poolTokens = native ? [wrapped, tokens[1]] : tokens
  return { id, address: dex.factory, dex, tokens: poolTokens, ...(native ? { native } : {}), feePpm, tickSpacing }
}

/** PoolKey.toId, without hooks. */
export function poolIdOf(currency0: string, currency1: string, fee: number, spacing: number): string {
  return keccak256(`0x${[currency0, currency1, fee, spacing, 0].map((part) => toWord(BigInt(part))).join('')}`)
}

const slotOf = (id: string): bigint =>
  BigInt(keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id as Hex, POOLS_SLOT])))
const mappingSlot = (key: number, mapping: bigint): bigint => BigInt(keccak256(`0x${toWord(key)}${toWord(mapping)}`))
/** The lower twelve bits are the fee for token 0 in. */
const protocolFees = (packed: bigint): readonly [number, number] => [
  Number(packed & 0xfffn),
  Number((packed >> 12n) & 0xfffn),
]

/** Reads a pool from the manager's storage. */
function storageOf(
  reader: BlockReader,
  at: string,
  { id, address, tickSpacing }: { id: string; address: string; tickSpacing: number },
) {
  const slot = slotOf(id)
  const load = async (keys: readonly number[], mapping: bigint) =>
    (
      await reader.read(
        at,
        keys.map((key) => ({ to: address, calldata: callOf(LOAD, mappingSlot(key, mapping)) })),
      )
    ).map(firstWord)
  return {
    step: tickSpacing,
    words: (indexes: readonly number[]) => load(indexes, slot + BITMAP_OFFSET),
    async ticks(indexes: readonly number[]) {
      const packed = await load(indexes, slot + TICKS_OFFSET)
      return packed.map((word, place) =>
        word === null
          ? null
          : {
              index: indexes[place] as number,
              gross: word & ((1n << 128n) - 1n),
              net: signed(word >> 128n, 128),
            },
      )
    },
  }
}
