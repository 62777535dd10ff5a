import { type Hex, serializeTransaction } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { assert } from '../../lib/assert.ts'
import type { UnsignedCall } from './simulate.ts'

export type FeeRates = FeeRate
type Rest = Readonly<{ nonce: number; gas: bigint; fees: FeeRates }>

/** As viem and ethers sign it: EIP-1559, and the older form with chain id (EIP-155) where a chain has no other. */
export function serializeUnsigned({ evm }: Network, { to, input, value }: UnsignedCall, { nonce, gas, fees }: Rest): Hex {
  assert(evm, 'an evm network has its parameters')
  const { chainId, dynamicFees } = evm
  const same = { chainId, nonce, gas, to: to as Hex, value, data: input }
  return dynamicFees
    ? serializeTransaction({ ...same, type: 'eip1559', maxFeePerGas: fees.rate, maxPriorityFeePerGas: fees.tip })
    : serializeTransaction({ ...same, type: 'legacy', gasPrice: fees.rate })
}
