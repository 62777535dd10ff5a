import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { present } from '../../server/src/lib/assert.ts'
import { type Anvil, startAnvil } from '../../server/test/adapters/chains/evm/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../server/test/adapters/chains/evm/faulty-node.ts'
import { type LocalBitcoin, startLocalBitcoin } from './local-bitcoin.ts'
import type { Json } from './program.ts'

/* A local node of each network of the documented example of production, with the parameters of the main network. */

const example = join(import.meta.dirname, '../../docs/examples/production.json')
/**
 * In anvil `safe` is one epoch of `slots` blocks below the head and `finalized` two. The epoch of Base is longer than the confirmations
 * that its deposits of any value need.
 */
const networks = {
  eth: { chainId: 1, slots: 4 },
  bsc: { chainId: 56, slots: 4 },
  base: { chainId: 8453, slots: 100 },
} as const
export type LocalNetwork = keyof typeof networks
/** More blocks than any of the EVM networks needs for finality. */
export const FIRST_BLOCKS = 1_000

/** One chain, and two endpoints in front of it. */
export type LocalChain = Readonly<{ anvil: Anvil; endpoints: readonly [FaultyNode, FaultyNode] }>
export type LocalChains = Readonly<Record<LocalNetwork, LocalChain>>

export type LocalNetworks = Readonly<{ chains: LocalChains; bitcoin: LocalBitcoin; stop(): Promise<void> }>

async function startChain(network: LocalNetwork): Promise<LocalChain> {
  const { chainId, slots } = networks[network]
  const anvil = await startAnvil(['--chain-id', String(chainId), '--slots-in-an-epoch', String(slots)])
  await anvil.mine(FIRST_BLOCKS)
  return { anvil, endpoints: [await startFaultyNode(anvil.url), await startFaultyNode(anvil.url)] }
}

export async function startLocalNetworks(): Promise<LocalNetworks> {
  // First: it mines in this process, which delays the answers that the other starts wait for.
  const bitcoin = await startLocalBitcoin()
  const [eth, bsc, base] = await Promise.all([startChain('eth'), startChain('bsc'), startChain('base')])
  const chains = { eth, bsc, base }
  return {
    chains,
    bitcoin,
    async stop() {
      const locals = Object.values(chains)
      await Promise.all(locals.flatMap(({ endpoints }) => endpoints.map((endpoint) => endpoint.stop())))
      await Promise.all([...locals.map(({ anvil }) => anvil.stop()), bitcoin.stop()])
    },
  }
}

/** The documented example, all of it, with the URLs of these nodes and these price sources. */
export function localizeExample({ chains, bitcoin }: LocalNetworks, priceSources: readonly unknown[]): Json {
  const endpointsOf = new Map<string, readonly FaultyNode[]>([
    ['btc', bitcoin.endpoints],
    ...Object.entries(chains).map(([network, { endpoints }]) => [network, endpoints] as const),
  ])
  const config = JSON.parse(readFileSync(example, 'utf8')) as Json
  for (const [network, settings] of Object.entries<Json>(config.networks))
    settings.rpcUrls = present(endpointsOf.get(network), `local nodes of ${network}`).map(({ url }) => url)
  config.prices.sources = priceSources
  return config
}
