import { decodeAbiParameters, encodeFunctionData, type Hex, hexToBytes, parseAbi } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { TokenFacts } from '../../swap/ports/swap-chain.ts'
import { isNative } from '../chains/evm/native-coin.ts'
import { type EvmNode, ethCall, hex } from '../chains/evm/node.ts'
import { bytes } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { callFailure } from './call-failure.ts'

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])
/** Gas limit of a getter, which reads one or two words. */
const GAS = 1_000_000
const NAME_MAX = 64
const SYMBOL_MAX = 32
/** No real token has more. */
const DECIMALS_MAX = 36n

/**
 * Reads name, symbol and decimals of a token. Null without a contract, or if it has no decimals or no symbol. With wrong decimals a
 * user would swap a multiple of the amount, so a second node confirms them where one is configured and answers.
 */
export async function readTokenFacts(
  nodes: readonly EvmNode[],
  network: Network,
  address: string,
): Promise<TokenFacts | null> {
  if (isNative(address)) return { name: network.name, symbol: network.symbol, decimals: network.decimals }
  const settled = await Promise.allSettled(nodes.map((node) => readFrom(node, address)))
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const [first] = answers
  if (first === undefined) throw settled.find((one) => one.status === 'rejected')?.reason
  if (answers.some((answer) => answer?.decimals !== first?.decimals))
    throw unavailable(`the nodes of ${network.id} contradict each other about the token ${address}`)
  return first
}

async function readFrom(node: EvmNode, address: string): Promise<TokenFacts | null> {
  const code = await node.ask('eth_getCode', [address, 'latest'], bytes)
  if (code === '0x') return null
  const [name, symbol, decimals] = await Promise.all([
    callGetter(node, address, 'name'),
    callGetter(node, address, 'symbol'),
    callGetter(node, address, 'decimals'),
  ])
  const decimalCount = wordOf(decimals)
  const shortName = textOf(symbol, SYMBOL_MAX)
  if (decimalCount === null || decimalCount > DECIMALS_MAX || shortName === null) return null
  return { name: textOf(name, NAME_MAX) ?? shortName, symbol: shortName, decimals: Number(decimalCount) }
}

/** Null if the call fails in the contract. */
async function callGetter(
  node: EvmNode,
  address: string,
  functionName: 'name' | 'symbol' | 'decimals',
): Promise<Hex | null> {
  try {
    return await ethCall(
      node,
      { to: address, data: encodeFunctionData({ abi, functionName }), gas: hex(GAS) },
      'latest',
    )
  } catch (error) {
    if ((await callFailure(node, error)) !== null) return null
    throw error
  }
}

const wordOf = (answer: Hex | null): bigint | null => (answer?.length === 66 ? BigInt(answer) : null)

/** Decodes an ABI string, or a bytes32 padded with zeros (MKR, SAI). */
function textOf(answer: Hex | null, maxLength: number): string | null {
  if (answer === null || answer.length < 66) return null
  const text = answer.length === 66 ? ofBytes32(answer) : ofString(answer)
  return text === null ? null : cleanText(text, maxLength)
}

function ofBytes32(word: Hex): string {
  const read = hexToBytes(word)
  const end = read.indexOf(0)
  return new TextDecoder().decode(end < 0 ? read : read.subarray(0, end))
}

function ofString(answer: Hex): string | null {
  try {
    return decodeAbiParameters([{ type: 'string' }], answer)[0]
  } catch {
    // Not an ABI string.
    return null
  }
}
