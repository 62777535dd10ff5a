import { getCreate2Address, type Hex, keccak256 } from 'viem'
import type { Dex } from '../../swap/domain/dex.ts'
import { bytes } from '../chains/evm/replies.ts'
import type { Rpc } from '../chains/evm/rpc.ts'
import { readerOf } from './dex-readers.ts'
import type { FoundPool, Ground } from './tracked.ts'
import { toWord } from './words.ts'

export type CheckedDex = Readonly<{ dex: Dex; fault: string | null }>

/**
 * Whether the chain has what our files say: code there, and its answer about a pair of connector tokens fits the hash from which pools
 * are made. A node that is away fails the check as a whole: it says nothing of a DEX.
 */
export async function checkDex(
  rpc: Rpc,
  ground: Ground,
  at: string,
  dex: Dex,
  connectors: readonly string[],
): Promise<CheckedDex> {
  const reader = readerOf(dex)
  if (reader === null) return { dex, fault: `pools of kind ${dex.kind} are not read yet` }
  for (const address of [dex.factory, ...(dex.vault === undefined ? [] : [dex.vault])])
    if ((await rpc.ask('eth_getCode', [address, 'latest'], bytes)) === '0x')
      return { dex, fault: `there is no contract at ${address}` }
  if (dex.initCodeHash === undefined || !hashed.has(dex.kind)) return { dex, fault: null }
  const sorted = [...connectors].sort()
  const pairs = sorted.flatMap((a, place) => sorted.slice(place + 1).map((b) => [a, b] as const))
  for (const { address, ...found } of (await reader.lookUp?.(ground, at, dex, pairs)) ?? []) {
    const expected = addressBy(dex, found, dex.initCodeHash)
    if (address !== expected)
      return { dex, fault: `its pool ${address} was not made by the code with the hash of our files` }
  }
  return { dex, fault: null }
}

/** Forks of V3 that are told apart by tick spacing. */
const spaced: ReadonlySet<Dex['kind']> = new Set(['slipstream', 'ramses-v3', 'solidly-v3'])
/** By the fee. */
const tiered: ReadonlySet<Dex['kind']> = new Set(['uniswap-v3', 'ramses-v2'])
const hashed: ReadonlySet<Dex['kind']> = new Set([
  ...(['uniswap-v2', 'algebra', 'algebra-integral', 'solidly'] as const),
  ...spaced,
  ...tiered,
])

/**
 * V2 packs the tokens, Solidly which of its sorts after them; Algebra writes them as words, and V3 its fee or its tick spacing
 * after them.
 */
export function addressBy(
  dex: Dex,
  { tokens, feePpm = 0, tickSpacing = 0, stable }: Pick<FoundPool, 'tokens' | 'feePpm' | 'tickSpacing' | 'stable'>,
  bytecodeHash: string,
): string {
  const key = tiered.has(dex.kind) ? [feePpm] : spaced.has(dex.kind) ? [tickSpacing] : []
  const words = [...tokens, ...key]
  const packed = tokens.map((token) => token.slice(2)).join('')
  const salt = keccak256(
    dex.kind === 'uniswap-v2'
      ? `0x${packed}`
      : dex.kind === 'solidly'
        ? `0x${packed}${stable ? '01' : '00'}`
        : `0x${words.map((word) => toWord(BigInt(word))).join('')}`,
  )
  const from = (dex.deployer ?? dex.factory) as Hex
  return getCreate2Address({ from, salt, bytecodeHash: bytecodeHash as Hex }).toLowerCase()
}
