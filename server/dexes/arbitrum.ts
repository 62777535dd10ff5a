import { defineDexes } from '../src/swap/domain/dex.ts'
import { balancerV2 } from './balancer-v2.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const arbitrum = defineDexes({
  network: 'arbitrum',
  wrapped: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  connectors: [
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
    '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
    '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f',
  ],
  stablecoin: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  dexes: [
    {
      name: 'camelot-v2',
      kind: 'uniswap-v2',
      factory: '0x6EcCab422D763aC031210895C81787E87B43A652',
      feePpm: 3_000,
      initCodeHash: '0xa856464ae65f7619087bc369daaf7e387dae1e5af69cfa7935850ebf754b04c1',
      enabled: false,
      note: 'fees differ by direction',
    },
    {
      name: 'camelot-v3',
      kind: 'algebra',
      factory: '0x1a3c9B1d2F0529D97f2afC5136Cc23e58f1FD35B',
      initCodeHash: '0x6c1bebd370ba84753516bc1393c0d0a6c645856da55f5393ac8ab3d6dbc861d3',
      deployer: '0x6dd3fb9653b10e806650f107c3b5a0a6ff974f65',
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'lfj-liquidity-book-2-1',
      kind: 'liquidity-book',
      factory: '0x8e42f2F4101563bF679975178e880FD87d3eFd4e',
    },
    {
      name: 'lfj-liquidity-book-2-2',
      kind: 'liquidity-book',
      factory: '0xb43120c4745967fa9b93E79C149E66B0f2D6Fe0c',
    },
    {
      name: 'pancakeswap-v2',
      kind: 'uniswap-v2',
      factory: '0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E',
      feePpm: 2_500,
      initCodeHash: '0x57224589c67f3f30a6b0d7a1b54cf3153ab84563bc609ef41dfb34f8b2974d2d',
    },
    {
      name: 'pancakeswap-v3',
      kind: 'uniswap-v3',
      factory: '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
      initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
      deployer: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
    },
    {
      name: 'ramses-cl',
      kind: 'ramses-v2',
      factory: '0xAA2cd7477c451E703f3B9Ba5663334914763edF8',
      initCodeHash: '0x1565b129f2d1790f12d45301b9b084335626f0c92410bc43130763b69971135d',
    },
    {
      name: 'ramses-v1',
      kind: 'solidly',
      fork: 'ramses',
      factory: '0xAAA20D08e59F6561f242b08513D36266C5A29415',
    },
    {
      name: 'sushiswap-v2',
      kind: 'uniswap-v2',
      factory: '0xc35DADB65012eC5796536bD9864eD8773aBc74C4',
      feePpm: 3_000,
      initCodeHash: '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303',
    },
    {
      name: 'sushiswap-v3',
      kind: 'uniswap-v3',
      factory: '0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
    {
      name: 'uniswap-v2',
      kind: 'uniswap-v2',
      factory: '0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9',
      feePpm: 3_000,
      initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    },
    {
      name: 'uniswap-v3',
      kind: 'uniswap-v3',
      factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
    {
      name: 'uniswap-v4',
      kind: 'uniswap-v4',
      factory: '0x360e68faccca8ca495c1b759fd9eee466db9fb32',
    },
    {
      name: 'curve-factory',
      kind: 'curve-stable',
      factory: '0xb17b674d9c5cb2e441f8e196a2f048a81355d031',
      implementations: [
        '0x54e8A25d0Ac0E4945b697C80b8372445FEA17A62',
        '0x73Ec37618683C274D0bBf5f5726aA856B2BDAB81',
        '0x0100fBf414071977B19fC38e6fc7c32FE444F5C9',
        '0xe381C25de995d62b453aF8B931aAc84fcCaa7A62',
        '0x8866414733F22295b7563f9C5299715D2D76CAf4',
        '0x8d53E5De033078367Ad91527c53abfd1Eb6bfa86',
        '0x06e3C4da96fd076b97b7ca3Ae23527314b6140dF',
      ],
    },
    {
      name: 'curve-stableswap-ng',
      kind: 'curve-stable',
      factory: '0x9af14d26075f142eb3f292d5065eb3faa646167b',
    },
    ...balancerV2.arbitrum,
  ],
})
