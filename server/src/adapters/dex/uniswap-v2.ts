import type { Dex } from '../../swap/domain/dex.ts'
import type { UniswapV2Pool } from '../../swap/routing/pools/uniswap-v2.ts'
import { addressOf, callOf, wordAt, wordsOf } from './abi-words.ts'
import { findPools, indexedTokens, poolIdentity } from './pool-identity.ts'
import type { DexReader } from './tracked-pool.ts'

/** PairCreated(address indexed,address indexed,address,uint256) */
const CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
/** Sync(uint112,uint112) */
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const GET_PAIR = '0xe6a43905'
const GET_RESERVES = '0x0902f1ac'
/** Uniswap's fee, the default. */
const FEE_PPM = 3_000

export const uniswapV2Dex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  parseCreation(log, dex) {
    const tokens = indexedTokens(log)
    return tokens && poolIdentity(addressOf(wordAt(wordsOf(log.fields), 0)), dex, tokens, feeOf(dex))
  },
  lookUp({ reader }, at, dex, pairs) {
    const searches = pairs.map((tokens) => ({ tokens, ...feeOf(dex) }))
    return findPools(reader, at, dex, searches, ({ tokens: [a, b] }) => callOf(GET_PAIR, a, b))
  },
  async readBase({ reader }, at, identities) {
    const answers = await reader.read(
      at,
      identities.map(({ address }) => ({ to: address, calldata: GET_RESERVES })),
    )
    return identities.map((pair, index) => {
      const answer = answers[index]
      if (!answer) return null
      const words = wordsOf(answer)
      const { dex, id, address, tokens, feePpm = FEE_PPM } = pair
      const reserves = [wordAt(words, 0), wordAt(words, 1)] as const
      const pool: UniswapV2Pool = { kind: 'uniswap-v2', id, address, dex: dex.name, tokens, reserves, feePpm }
      return { pool }
    })
  },
  topics: [SYNC],
  apply(tracked, { fields }) {
    if (tracked.pool.kind !== 'uniswap-v2') return 'reread'
    const words = wordsOf(fields)
    return { pool: { ...tracked.pool, reserves: [wordAt(words, 0), wordAt(words, 1)] } }
  },
}

const feeOf = ({ feePpm = FEE_PPM }: Dex) => ({ feePpm })
