import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import {
  curveStableswapNg,
  lfjLiquidityBook21,
  lfjLiquidityBook22,
  pancakeswapV2,
  pancakeswapV3,
  sushiswapV2,
  sushiswapV3,
  uniswapV2,
  uniswapV3,
  uniswapV4,
} from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const arbitrum = defineDexes({
  network: 'arbitrum',
  wrapped: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  connectors: [
    // USDC
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    // USDT
    '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
    // DAI
    '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
    // WBTC
    '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f',
    // ARB
    '0x912CE59144191C1204E64559FE8253a0e49E6548',
    // USDC.e
    '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8',
    // wstETH
    '0x5979D7b546E38E414F7E9822514be443A4800529',
  ],
  stablecoin: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
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
    lfjLiquidityBook21,
    lfjLiquidityBook22,
    pancakeswapV2('0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E'),
    pancakeswapV3,
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
    sushiswapV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    sushiswapV3('0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e'),
    uniswapV2('0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9'),
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984'),
    uniswapV4('0x360e68faccca8ca495c1b759fd9eee466db9fb32'),
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
    curveStableswapNg('0x9af14d26075f142eb3f292d5065eb3faa646167b'),
    ...balancerV2.arbitrum,
  ],
})
