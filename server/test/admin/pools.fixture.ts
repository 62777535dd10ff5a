import { dexNetworks } from '../../dexes/index.ts'
import { networks } from '../../networks/index.ts'
import type { ActionDeps } from '../../src/admin/actions/action.ts'
import { parsePool, parsePoolToken } from '../../src/config/swap-addresses.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import type { PoolReads, PoolView } from '../../src/swap/interfaces.ts'

/** USDC and a token whose address differs from another only in case, as base58 has it. */
export const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const wrappedSol = 'So11111111111111111111111111111111111111112'
export const solPool = '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2'
const weth = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const junk = '0x00000000219ab540356cbb839cbe05303d7705fa'
export const balancerId = `0x${'ab'.repeat(20)}${'00'.repeat(12)}`

const view = (id: string, dex: string, dollars: number | null, tokens: readonly (readonly [string, string | null])[]) =>
  ({
    ...{ id, dex, dollars, tokens: tokens.map(([address]) => address) },
    shown: tokens.map(([address, symbol]) => ({ address, symbol })),
  }) satisfies PoolView

/** Sixty pools of eth and one of sol. The pool of Balancer is the deepest. `symbol` is of a listed token. */
export function createPools(symbol = 'JUNK'): PoolReads {
  const pair = [
    [weth, 'WETH'],
    [junk, symbol],
  ] as const
  const shallow = Array.from({ length: 59 }, (_, n) =>
    view(`0x${n.toString(16).padStart(40, '0')}`, 'uniswap-v2', Math.floor(n / 2), pair),
  )
  const pools = new Map([
    ['eth', [...shallow, view(balancerId, 'balancer-weighted', 1_000_000, [pair[0], [`0x${'cd'.repeat(20)}`, null]])]],
    [
      'sol',
      [
        view(solPool, 'raydium-amm-v4', null, [
          [wrappedSol, 'SOL'],
          [usdc, 'USDC'],
        ]),
      ],
    ],
  ])
  return {
    states: () => [...pools].map(([network, list]) => ({ ...stateOf(network), pools: list.length })),
    list: async (network) => pools.get(network) ?? [],
  }
}

const stateOf = (id: string) => {
  const definition = networks.find((one) => one.id === id) as (typeof networks)[number]
  const { symbol, decimals } = resolveNetwork(definition, 'production')
  const depth = { units: 1.5 * 10 ** decimals, maximumUnits: 3 * 10 ** decimals }
  return { network: id, symbol, decimals, depth, block: { height: 7, hash: '0x7' }, readAtMs: Date.UTC(2026, 10, 26) }
}

const wrapped = (id: string): string => dexNetworks.find(({ network }) => network === id)?.wrapped ?? ''

/** As app/action-deps.ts composes it, with the wrapped coins of production. */
export const parsePoolName: ActionDeps['parsePoolName'] = async (network, kind, text) =>
  kind === 'pool' ? parsePool(network, text) : parsePoolToken(network, text, async () => wrapped(network))
