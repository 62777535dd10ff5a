import { getCreate2Address, type Hex, keccak256 } from 'viem'
import type { Dex } from '../../swap/domain/dex.ts'
import { bytes } from '../chains/evm/replies.ts'
import type { Rpc } from '../chains/evm/rpc.ts'
import { toWord } from './abi-words.ts'
import { readerOf } from './dex-readers.ts'
import type { PoolIdentity, ReadContext } from './tracked-pool.ts'

export type CheckedDex = Readonly<{ dex: Dex; fault: string | null }>

/**
 * Checks a DEX of our network file on the chain: its contracts have code, and the pools of the connector tokens have the addresses
 * that follow from the init code hash. Throws if the node does not answer.
 */
export async function checkDex(
  rpc: Rpc,
  readContext: ReadContext,
  at: string,
  dex: Dex,
  connectors: readonly string[],
): Promise<CheckedDex> {
  const reader = readerOf(dex)
  if (reader === null) return { dex, fault: `pool kind ${dex.kind} is not supported` }
  for (const address of [dex.factory, ...(dex.vault === undefined ? [] : [dex.vault])])
    if ((await rpc.ask('eth_getCode', [address, 'latest'], bytes)) === '0x')
      return { dex, fault: `no contract at ${address}` }
  if (dex.initCodeHash === undefined || !create2Kinds.has(dex.kind)) return { dex, fault: null }
  const sorted = [...connectors].sort()
  const pairs = sorted.flatMap((a, place) => sorted.slice(place + 1).map((b) => [a, b] as const))
  for (const { address, ...identity } of (await reader.lookUp?.(readContext, at, dex, pairs)) ?? []) {
    const expected = create2Address(dex, identity, dex.initCodeHash)
    if (address !== expected) return { dex, fault: `pool ${address} does not match the configured initCodeHash` }
  }
  return { dex, fault: null }
}

/** Forks of V3 whose pools of a pair differ by tick spacing. */
const keyedBySpacing: ReadonlySet<Dex['kind']> = new Set(['slipstream', 'ramses-v3', 'solidly-v3'])
/** Forks whose pools of a pair differ by fee. */
const keyedByFee: ReadonlySet<Dex['kind']> = new Set(['uniswap-v3', 'ramses-v2'])
const create2Kinds: ReadonlySet<Dex['kind']> = new Set([
  ...(['uniswap-v2', 'algebra', 'algebra-integral', 'solidly'] as const),
  ...keyedBySpacing,
  ...keyedByFee,
])

/**
 * The CREATE2 address of a pool. The salt: V2 packs the tokens, Solidly also the `stable` flag; Algebra writes the tokens as words,
 * and V3 adds the fee or the tick spacing.
 */
export function create2Address(
  dex: Dex,
  { tokens, feePpm = 0, tickSpacing = 0, stable }: Pick<PoolIdentity, 'tokens' | 'feePpm' | 'tickSpacing' | 'stable'>,
  bytecodeHash: string,
): string {
  const key = keyedByFee.has(dex.kind) ? [feePpm] : keyedBySpacing.has(dex.kind) ? [tickSpacing] : []
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
