import { secp256k1 } from '@noble/curves/secp256k1.js'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { getAddress } from 'viem'
import { eth } from '../../../../networks/eth.ts'
import { createEvmChain, type EvmChain, type EvmChainOptions } from '../../../../src/adapters/chains/evm/chain.ts'
import { type Asset, assetId } from '../../../../src/core/domain/asset.ts'
import { type Network, resolveNetwork } from '../../../../src/core/domain/network.ts'
import type { NodeNote } from '../../../../src/core/ports/chain.ts'
import type { KeySource, PublicKeys } from '../../../../src/exchange/ports/signer.ts'
import type { KeyPath, Payment } from '../../../../src/exchange/ports/spend.ts'

/** The public mnemonic of development nodes. */
const root = HDKey.fromMasterSeed(mnemonicToSeedSync('test test test test test test test test test test test junk'))

function derive({ branch, index }: KeyPath, coinType: number): HDKey {
  return root.derive(`m/44'/${coinType}'/${branch === 'hot' ? 1 : 0}'/0/${index}`)
}

function publicKey(coinType: number, path: KeyPath): Uint8Array {
  const key = derive(path, coinType).publicKey
  if (!key) throw new Error('no key')
  return key
}

export const publicKeys: PublicKeys = {
  publicKey,
  uncompressedKey: (coinType, path) => secp256k1.Point.fromBytes(publicKey(coinType, path)).toBytes(false),
}

export const keys: KeySource = {
  privateKey(path) {
    const key = derive(path, 60).privateKey
    if (!key) throw new Error('no key')
    return key
  },
}

export const network: Network = resolveNetwork(eth, 'sandbox')
export const native: Asset = { id: assetId('eth', 'eth'), ticker: 'eth', network: 'eth', decimals: 18, contract: null }

export function token(contract: string, ticker = 'usdt', decimals = 6): Asset {
  return { id: assetId(ticker, 'eth'), ticker, network: 'eth', decimals, contract: getAddress(contract) }
}

export function chainOf(
  rpcUrls: readonly string[],
  parts: Partial<EvmChainOptions> = {},
): EvmChain & { notes: NodeNote[] } {
  const notes: NodeNote[] = []
  const chain = createEvmChain({
    network,
    rpcUrls,
    publicKeys,
    tokens: [],
    rpc: { timeoutMs: 3_000, attempts: 2 },
    note: (note) => notes.push(note),
    ...parts,
  })
  return { ...chain, notes }
}

export function pay(address: string, asset: Asset, units: bigint): Payment {
  return { payoutId: '00000000-0000-4000-8000-000000000001', address, memo: null, asset, units }
}
