import { type Hex, numberToHex, serializeTransaction } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { assert } from '../../lib/assert.ts'
import type { UnsignedCall } from './simulate.ts'

type Details = Readonly<{ nonce: number; gas: bigint; fees: FeeRate }>

/** Serializes for signing as viem and ethers do: EIP-1559, or legacy with chain id (EIP-155) if the chain has no dynamic fees. */
export function serializeUnsigned(
  { evm }: Network,
  { to, input, value }: UnsignedCall,
  { nonce, gas, fees }: Details,
): Hex {
  assert(evm, 'an EVM network has its parameters')
  const { chainId, dynamicFees } = evm
  const common = { chainId, nonce, gas, to: to as Hex, value, data: input }
  return dynamicFees
    ? serializeTransaction({ ...common, type: 'eip1559', maxFeePerGas: fees.rate, maxPriorityFeePerGas: fees.tip })
    : serializeTransaction({ ...common, type: 'legacy', gasPrice: fees.rate })
}

/** The fees of a transaction as JSON-RPC members. */
export function feeMembers({ evm }: Network, { rate, tip }: FeeRate): Readonly<Record<string, Hex>> {
  return evm?.dynamicFees
    ? { maxFeePerGas: numberToHex(rate), maxPriorityFeePerGas: numberToHex(tip) }
    : { gasPrice: numberToHex(rate) }
}
