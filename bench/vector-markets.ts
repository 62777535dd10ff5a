import { join } from 'node:path'
import { readLabCases } from '../server/src/cli/lab-file.ts'
import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'
import { addressOf, type SwapMarket } from './swap-markets.ts'

const FILE = join(import.meta.dirname, '../vectors/routing_v2_optimality.json')

/** The sixty markets of vectors/routing_v2_optimality.json. `draw` returns the one trade of the market. */
export function readVectorMarkets(): readonly SwapMarket[] {
  return readLabCases(FILE).map(({ pools, tokenIn, tokenOut, amountIn }) => {
    const names = [...new Set(pools.flatMap(({ tokens }) => tokens))]
    const numberOf = (name: number | string) => names.indexOf(name)
    const tokens = names.map((_, number) => addressOf(number + 1))
    const states = pools.map(({ tokens: [a, b], reserves, feePpm }, index): UniswapV2Pool => {
      const address = addressOf(names.length + 1 + index)
      const pair = [tokens[numberOf(a)] ?? '', tokens[numberOf(b)] ?? ''] as const
      return { kind: 'uniswap-v2', id: address, address, dex: 'bench', feePpm, tokens: pair, reserves }
    })
    const trade = { source: numberOf(tokenIn), target: numberOf(tokenOut), amountIn }
    return { tokens, pools: states, draw: () => trade }
  })
}
