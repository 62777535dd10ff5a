import type { Hex } from 'viem'
import type { Dex } from '../../swap/domain/dex.ts'
import { addressOf, numberOf } from './abi-words.ts'
import type { BlockReader } from './block-reader.ts'
import type { DexLog } from './logs.ts'
import type { PoolIdentity } from './tracked-pool.ts'

type Terms = Pick<PoolIdentity, 'feePpm' | 'tickSpacing' | 'stable'>

/** A pool that its address identifies. */
export function poolIdentity(address: string, dex: Dex, tokens: readonly string[], terms: Terms = {}): PoolIdentity {
  return { id: address, address, dex, tokens, ...terms }
}

/** The tokens in the first two indexed fields of a log; null if it has fewer. */
export function indexedTokens({ topics: [, token0, token1] }: DexLog): readonly [string, string] | null {
  if (token0 === undefined || token1 === undefined) return null
  return [addressOf(BigInt(token0)), addressOf(BigInt(token1))]
}

type Search = Terms & Readonly<{ tokens: readonly [string, string] }>

/** Asks the factory for the pool of each search by one call; omits searches without a pool. */
export async function findPools<S extends Search>(
  reader: BlockReader,
  at: string,
  dex: Dex,
  searches: readonly S[],
  calldataOf: (search: S) => Hex,
): Promise<readonly PoolIdentity[]> {
  const calls = searches.map((search) => ({ to: dex.factory, calldata: calldataOf(search) }))
  const answers = await reader.read(at, calls)
  return searches.flatMap((search, index) => {
    const word = numberOf(answers[index])
    const address = addressOf(word)
    return word === 0n ? [] : [{ ...search, id: address, address, dex }]
  })
}
