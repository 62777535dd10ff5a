import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import { type EvmNode, ethCall } from '../chains/evm/node.ts'
import type { UnsignedCall } from './simulate.ts'

/** Arbitrum's NodeInterface: a virtual contract that Nitro nodes provide. */
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8'
const abi = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes input) view returns (uint64, uint256, uint256)',
])
/** Margin in percent: the L1 price changes until the transaction is mined. */
const PERCENT = 150n

/** Gas that Arbitrum charges for L1 data, which simulations omit; 0 on other networks. */
export async function l1GasOf(node: EvmNode, network: Network, { to, input }: UnsignedCall): Promise<bigint> {
  if (network.id !== 'arbitrum') return 0n
  const calldata = encodeFunctionData({ abi, functionName: 'gasEstimateL1Component', args: [to as Hex, false, input] })
  const answer = await ethCall(node, { to: NODE_INTERFACE, data: calldata }, 'latest')
  if (answer === '0x') return 0n
  const [gas] = decodeFunctionResult({ abi, functionName: 'gasEstimateL1Component', data: answer })
  return (gas * PERCENT) / 100n
}
