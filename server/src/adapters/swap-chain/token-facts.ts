import { decodeAbiParameters, encodeFunctionData, type Hex, hexToBytes, parseAbi } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import { isNative } from '../../swap/domain/token.ts'
import type { TokenFacts } from '../../swap/ports/swap-chain.ts'
import { type EvmNode, ethCall, askFirstNode, hex } from '../chains/evm/node.ts'
import { bytes } from '../chains/evm/replies.ts'
import { callFailure } from './call-failure.ts'

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
])
/** A getter reads a word or two; a contract that burns or returns more is not asked twice. */
const GAS = 1_000_000
const NAME_MAX = 64
const SYMBOL_MAX = 32
/** No token has more; amounts beyond would be longer than a word prints. */
const DECIMALS_MAX = 36n

/** What the contract says of itself, or null where there is none, or none that has decimals and a symbol. */
export function readTokenFacts(
  nodes: readonly EvmNode[],
  network: Network,
  address: string,
): Promise<TokenFacts | null> {
  if (isNative(address))
    return Promise.resolve({ name: network.name, symbol: network.symbol, decimals: network.decimals })
  return askFirstNode(nodes, async (node) => {
    const code = await node.ask('eth_getCode', [address, 'latest'], bytes)
    if (code === '0x') return null
    const [name, symbol, decimals] = await Promise.all([
      answerOf(node, address, 'name'),
      answerOf(node, address, 'symbol'),
      answerOf(node, address, 'decimals'),
    ])
    const places = wordOf(decimals)
    const shortName = textOf(symbol, SYMBOL_MAX)
    if (places === null || places > DECIMALS_MAX || shortName === null) return null
    return { name: textOf(name, NAME_MAX) ?? shortName, symbol: shortName, decimals: Number(places) }
  })
}

/** null where the call fails in the contract. The state is there: the code was just read from it. */
async function answerOf(
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

/** A string by the ABI, or 32 bytes filled up with zeros (MKR, SAI). */
function textOf(answer: Hex | null, most: number): string | null {
  if (answer === null || answer.length < 66) return null
  const text = answer.length === 66 ? ofBytes32(answer) : ofString(answer)
  return text === null ? null : cleanText(text, most)
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
    // Not a string, whatever else it is.
    return null
  }
}

/** Printable and short: control, format (text direction) and unassigned characters out, white space as one space. */
export function cleanText(text: string, most: number): string | null {
  const printable = text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .trim()
  const cut = [...printable].slice(0, most).join('').trim()
  return cut === '' ? null : cut
}
