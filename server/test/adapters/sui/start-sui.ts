import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { createSuiMarket, describeDexes, dexFunctions } from '../../../../sandbox/src/sui/market.ts'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { sui } from '../../../networks/sui.ts'
import { createSuiSwapChain } from '../../../src/adapters/sui/chain.ts'
import { createSuiPools } from '../../../src/adapters/sui/pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'

const usdc = suiTokens[0]?.type ?? ''
export const network = resolveNetwork(sui, 'sandbox')

/** A simulated node with the sandbox's market, and the adapter with the pools of the named DEXes. */
export async function startSui(dexNames: readonly string[], log?: Pick<Log, 'warn'>) {
  const started = await startTestNode({ functions: dexFunctions })
  const { node } = started
  const market = createSuiMarket(node)
  const dexes = (describeDexes(market) as readonly Dex[]).filter(({ name }) => dexNames.includes(name))
  const dexNetwork = { network: 'sui', wrapped: '0x2::sui::SUI', connectors: [usdc], stablecoin: usdc, dexes }
  const rpcUrls = [node.url]
  const tokens = suiTokens.map(({ type }) => type)
  const logged = log === undefined ? {} : { log }
  const pools = createSuiPools({ network, rpcUrls, dexNetwork, tokens, ...logged, now: () => 1_800_000_000_000 })
  await pools.advance()
  return { ...started, pools, chain: createSuiSwapChain({ network, rpcUrls }), market }
}
