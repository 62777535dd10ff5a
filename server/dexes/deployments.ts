import type { Dex } from '../src/swap/domain/dex.ts'

/* DEXes that run the same contracts on several networks: only the factory differs, or nothing. */

export const uniswapV2 = (factory: string): Dex => ({
  name: 'uniswap-v2',
  kind: 'uniswap-v2',
  factory,
  feePpm: 3_000,
  initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
})

/** Init code hash of the pools of Uniswap V3, also of forks that deploy them unchanged. */
export const uniswapV3Hash = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

export const uniswapV3 = (factory: string): Dex => ({
  name: 'uniswap-v3',
  kind: 'uniswap-v3',
  factory,
  initCodeHash: uniswapV3Hash,
})

export const uniswapV4 = (factory: string): Dex => ({ name: 'uniswap-v4', kind: 'uniswap-v4', factory })

export const sushiswapV2 = (factory: string): Dex => ({
  name: 'sushiswap-v2',
  kind: 'uniswap-v2',
  factory,
  feePpm: 3_000,
  initCodeHash: '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303',
})

export const sushiswapV3 = (factory: string): Dex => ({ ...uniswapV3(factory), name: 'sushiswap-v3' })

/** Except on BNB Smart Chain, where the pairs have other code. */
export const pancakeswapV2 = (factory: string): Dex => ({
  name: 'pancakeswap-v2',
  kind: 'uniswap-v2',
  factory,
  feePpm: 2_500,
  initCodeHash: '0x57224589c67f3f30a6b0d7a1b54cf3153ab84563bc609ef41dfb34f8b2974d2d',
})

export const pancakeswapV3: Dex = {
  name: 'pancakeswap-v3',
  kind: 'uniswap-v3',
  factory: '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
  initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
  deployer: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
}

export const curveStableswapNg = (factory: string): Dex => ({
  name: 'curve-stableswap-ng',
  kind: 'curve-stable',
  factory,
})

export const lfjLiquidityBook21: Dex = {
  name: 'lfj-liquidity-book-2-1',
  kind: 'liquidity-book',
  factory: '0x8e42f2F4101563bF679975178e880FD87d3eFd4e',
}

export const lfjLiquidityBook22: Dex = {
  name: 'lfj-liquidity-book-2-2',
  kind: 'liquidity-book',
  factory: '0xb43120c4745967fa9b93E79C149E66B0f2D6Fe0c',
}

/** Velodrome outside OP Mainnet. */
export const velodrome: readonly Dex[] = [
  {
    name: 'velodrome-slipstream',
    kind: 'slipstream',
    factory: '0x04625B046C69577EfC40e6c0Bb83CDBAfab5a55F',
  },
  {
    name: 'velodrome-slipstream-2',
    kind: 'slipstream',
    factory: '0x718E46d0962A66942E233760a8bd6038Ce54EdCD',
    initCodeHash: '0x5c321b71432b05a17f62ebb2aef808690c7902c12aa1c492ef3d5a3cc12a0c0b',
  },
  {
    name: 'velodrome-v2',
    kind: 'solidly',
    fork: 'velodrome-v2',
    factory: '0x31832f2a97Fd20664D76Cc421207669b55CE4BC0',
  },
]
