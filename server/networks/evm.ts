import { defineNetwork, type EvmParameters, type NetworkDefinition } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'
/** Added to the real chain id, so that no sandbox signature is valid elsewhere. */
const SANDBOX_CHAIN_ID_OFFSET = 3_133_700_000

/** Above, a deposit waits until its block stands in a batch on Ethereum, and above the next tier until that is final. */
export const rollupFinality = { finalityTag: 'safe', safeAboveUsd: 1_000n, finalizedAboveUsd: 50_000n } as const

type Production = Omit<NetworkDefinition['production'], 'regexAddress' | 'evm'> &
  Readonly<{ evm: Omit<EvmParameters, 'dynamicFees'> }>
type EvmNetwork = Omit<NetworkDefinition, 'family' | 'coinType' | 'decimals' | 'memo' | 'production' | 'sandbox'> &
  Readonly<{ production: Production }>

/** Adds what all our EVM networks share, and the sandbox half. */
export function defineEvmNetwork({ production, ...network }: EvmNetwork): NetworkDefinition {
  const { chainId, nativeContract } = production.evm
  return defineNetwork({
    ...network,
    family: 'evm',
    // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
    coinType: 60,
    decimals: 18,
    memo: 'none',
    production: { ...production, regexAddress, evm: { ...production.evm, dynamicFees: true } },
    sandbox: {
      ...sandboxDefaults(network.id),
      confirmations: 3,
      regexAddress,
      evm: {
        chainId: SANDBOX_CHAIN_ID_OFFSET + chainId,
        finalityTag: null,
        dynamicFees: true,
        ...(nativeContract === undefined ? {} : { nativeContract }),
      },
    },
  })
}
