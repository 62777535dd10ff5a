import { type Address, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { address, type LogReply } from './replies.ts'

/** The ERC-20 functions that we use. `transfer` is declared without a return value, because some tokens return none. */
export const erc20 = parseAbi([
  'function transfer(address to, uint256 units)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** keccak256("Transfer(address,address,uint256)"), ERC-20. */
export const TRANSFER_TOPIC: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Hexadecimal length of a selector and two words. */
const TRANSFER_CALL_LENGTH = 2 + 2 * (4 + 64)

export type TransferEvent = Readonly<{ from: string; to: string; units: bigint }>

/** The ERC-20 transfer of a log, or null. ERC-721 has the same topic but indexes its third argument. */
export function eventOf(log: LogReply): TransferEvent | null {
  const [topic, from, to] = log.topics
  if (log.removed || log.topics.length !== 3 || topic !== TRANSFER_TOPIC || log.data.length !== 66) return null
  const sender = addressOfTopic(from)
  const recipient = addressOfTopic(to)
  return sender === null || recipient === null ? null : { from: sender, to: recipient, units: BigInt(log.data) }
}

function addressOfTopic(topic: Hex | undefined): string | null {
  if (topic === undefined || !topic.startsWith('0x000000000000000000000000')) return null
  return address(`0x${topic.slice(26)}`)
}

export function transferCall(to: string, units: bigint): Hex {
  return encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [to as Address, units] })
}

export function balanceCall(owner: string): Hex {
  return encodeFunctionData({ abi: erc20, functionName: 'balanceOf', args: [owner as Address] })
}

/** The recipient and units of `transfer` calldata; null for any other calldata. */
export function parseTransferCall(input: Hex): { to: string; units: bigint } | null {
  // Checked first, because the decoder throws on an unknown selector.
  if (!input.startsWith('0xa9059cbb') || input.length !== TRANSFER_CALL_LENGTH) return null
  if (!input.startsWith('000000000000000000000000', 10)) return null
  const { functionName, args } = decodeFunctionData({ abi: erc20, data: input })
  return functionName === 'transfer' ? { to: args[0], units: args[1] } : null
}
