import { networks as definitions } from '../../networks/index.ts'
import { depositFee, feeRateMax, payoutFee } from '../adapters/chains/bitcoin/transfer.ts'
import { feeCapsOf, typicalFee } from '../adapters/chains/evm/fees.ts'
import { FEE_MAX as MONERO_FEE_MAX } from '../adapters/chains/monero/sign.ts'
import { nativeId } from '../core/domain/asset.ts'
import { type Environment, type Network, resolveNetwork } from '../core/domain/network.ts'
import type { MaxNetworkFees } from '../exchange/domain/free-capital.ts'
import { present } from '../lib/assert.ts'

/** The highest network fees of each network, by the caps of its family. No node is needed. */
export function createMaxFees(environment: Environment): (network: string) => MaxNetworkFees {
  return (id) => {
    const definition = present(
      definitions.find((one) => one.id === id),
      `the network ${id}`,
    )
    return maxFeesOf(resolveNetwork(definition, environment))
  }
}

function maxFeesOf(network: Network): MaxNetworkFees {
  const native = nativeId(network)
  if (network.bitcoin) {
    const fee = { rate: feeRateMax(network.bitcoin), tip: 0n }
    const payoutUnits = payoutFee(network, fee)
    return { native, ...same(payoutUnits), inputUnits: depositFee(network, fee) }
  }
  if (network.family === 'evm') {
    // The caps are so far above real fees that they also cover what rollups pay to layer 1.
    const caps = feeCapsOf(network)
    return {
      native,
      nativePayoutUnits: typicalFee({ contract: null }, caps),
      tokenPayoutUnits: typicalFee({ contract: 'a token' }, caps),
      inputUnits: 0n,
    }
  }
  // The signer's bound is that of a whole transaction, whatever its inputs are.
  return { native, ...same(network.family === 'monero' ? MONERO_FEE_MAX : 0n), inputUnits: 0n }
}

const same = (units: bigint) => ({ nativePayoutUnits: units, tokenPayoutUnits: units })
