import type { Asset } from '../../core/domain/asset.ts'
import type { Chain } from '../../exchange/ports/chain.ts'
import type { ChainExplorer } from '../../exchange/ports/explorer.ts'
import { createBitcoinExplorer } from './bitcoin.ts'
import { createEvmExplorer } from './evm.ts'
import { createMoneroExplorer } from './monero.ts'
import { openNode } from './node.ts'

/** Explores one network through its first node. null for a family without an explorer, and for chains in memory. */
export function createExplorer(
  { network, addresses }: Pick<Chain, 'network' | 'addresses'>,
  rpcUrls: readonly string[],
  assets: readonly Asset[],
): ChainExplorer | null {
  const [url] = rpcUrls
  if (network.family === 'monero' && url !== undefined)
    return createMoneroExplorer({ network, url, assets, parse: addresses.parse })
  const create = { bitcoin: createBitcoinExplorer, evm: createEvmExplorer }[network.family as 'bitcoin' | 'evm']
  if (create === undefined || url === undefined) return null
  return create({ network, node: openNode(network, url), assets, parse: addresses.parse })
}
