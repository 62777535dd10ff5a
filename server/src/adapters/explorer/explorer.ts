import type { Asset } from '../../core/domain/asset.ts'
import type { Family, Network } from '../../core/domain/network.ts'
import type { ChainExplorer } from '../../exchange/ports/explorer.ts'
import { createBitcoinExplorer } from './bitcoin.ts'
import { createEvmExplorer } from './evm.ts'
import { createMoneroExplorer } from './monero.ts'
import { openNode } from './node.ts'
import { createSolanaExplorer } from './solana.ts'
import { createSuiExplorer } from './sui.ts'

type ExploredNetwork = Readonly<{
  network: Network
  /** Reads an address of the exchange half; null for networks without its adapter. */
  parse: ((text: string) => string | null) | null
}>

type CreateExplorer = (
  options: Readonly<{ network: Network; url: string; assets: readonly Asset[]; parse(text: string): string | null }>,
) => ChainExplorer

const byChain: Readonly<Partial<Record<Family, CreateExplorer>>> = {
  bitcoin: ({ url, ...options }) => createBitcoinExplorer({ ...options, node: openNode(options.network, url) }),
  evm: ({ url, ...options }) => createEvmExplorer({ ...options, node: openNode(options.network, url) }),
  monero: createMoneroExplorer,
}

/** Explores one network through its first node. null for a family without an explorer, and for chains in memory. */
export function createExplorer(
  { network, parse }: ExploredNetwork,
  [url]: readonly string[],
  assets: readonly Asset[],
): ChainExplorer | null {
  if (url === undefined) return null
  if (network.family === 'solana') return createSolanaExplorer({ network, node: openNode(network, url), assets })
  if (network.family === 'sui') return createSuiExplorer({ network, url, assets })
  const create = byChain[network.family]
  return create === undefined || parse === null ? null : create({ network, url, assets, parse })
}
