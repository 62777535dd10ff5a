import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { TokenFacts } from '../../swap/ports/swap-chain.ts'
import { answersOf } from '../chains/shared/agreement.ts'
import type { SuiNode } from './node.ts'

/* The limits of tokens on EVM networks. */
const NAME_MAX = 64
const SYMBOL_MAX = 32
const DECIMALS_MAX = 36

/**
 * Name, symbol and decimals of a coin type. Null without metadata, or if it has no symbol or no real number of decimals. With wrong decimals
 * a user would swap a multiple of the amount, so a second node confirms them where one is configured and answers.
 */
export async function readTokenFacts(
  nodes: readonly SuiNode[],
  { id }: Network,
  type: string,
): Promise<TokenFacts | null> {
  const [first = null, ...others] = await answersOf(nodes, (node) => readFrom(node, type))
  if (others.some((other) => other?.decimals !== first?.decimals))
    throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${id} contradict each other about the token ${type}`)
  return first
}

async function readFrom(node: SuiNode, type: string): Promise<TokenFacts | null> {
  const { name = '', symbol = '', decimals } = (await node.readCoinMetadata(type)) ?? {}
  const shortName = cleanText(symbol, SYMBOL_MAX)
  if (decimals === undefined || decimals > DECIMALS_MAX || shortName === null) return null
  return { name: cleanText(name, NAME_MAX) ?? shortName, symbol: shortName, decimals }
}
