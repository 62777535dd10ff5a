import { readMetaplexMetadata, readMintMetadata } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type { TokenFacts } from '../../swap/ports/swap-chain.ts'
import { readAccounts, type SolanaNode, type SolanaNodes, unavailable } from './nodes.ts'
import { metadataAddress, metaplexProgram, token2022Program, tokenProgram } from './program-address.ts'

const DECIMALS_OFFSET = 44
const INITIALIZED_OFFSET = 45
const MINT_BYTES = 82
const TYPE_OFFSET = 165
const MINT_TYPE = 1
const TEXT_MAX = 64
/** No address, no control character: what is shown to people. */
const cleanText = (text: string): string => text.replaceAll(/\p{C}/gu, '').trim().slice(0, TEXT_MAX)

/**
 * A mint with its name: its own metadata, or that of Metaplex's program. Null if the address has no mint. With wrong decimals a user would
 * swap a multiple of the amount, so a second node confirms them where one is configured and answers.
 */
export async function readTokenFacts(nodes: SolanaNodes, mint: string): Promise<TokenFacts | null> {
  const [first = null, ...others] = await nodes.answers((node) => readFrom(node, mint))
  if (others.some((one) => one?.decimals !== first?.decimals))
    throw unavailable(nodes.network, `the nodes contradict each other about the token ${mint}`)
  return first
}

async function readFrom(node: SolanaNode, mint: string): Promise<TokenFacts | null> {
  const { accounts } = await readAccounts(node, [mint, metadataAddress(mint)])
  const [account, named] = accounts
  if (!account || (account.owner !== tokenProgram && account.owner !== token2022Program)) return null
  const { data } = account
  const isMint = data.length === MINT_BYTES || (data.length > TYPE_OFFSET && data[TYPE_OFFSET] === MINT_TYPE)
  if (!isMint || data[INITIALIZED_OFFSET] !== 1) return null
  const ofMetaplex = named?.owner === metaplexProgram ? readMetaplexMetadata(named.data) : null
  const { name, symbol } = readMintMetadata(data) ?? ofMetaplex ?? { name: '', symbol: '' }
  const short = `${mint.slice(0, 4)}…${mint.slice(-4)}`
  return { name: cleanText(name) || short, symbol: cleanText(symbol) || short, decimals: data[DECIMALS_OFFSET] ?? 0 }
}
