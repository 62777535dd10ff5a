import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import {
  lfjLiquidityBook21,
  pancakeswapV3,
  sushiswapV2,
  sushiswapV3,
  uniswapV2,
  uniswapV3,
  uniswapV4,
} from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const bsc = defineDexes({
  network: 'bsc',
  wrapped: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
  connectors: [
    // USDC
    '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    // USDT
    '0x55d398326f99059fF775485246999027B3197955',
    // ETH
    '0x2170Ed0880ac9A755fd29B2688956BD959F933F8',
    // BTCB
    '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c',
    // USD1
    '0x8d0D000Ee44948FC98c9B98A4FA4921476f08B0d',
    // CAKE
    '0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82',
  ],
  stablecoin: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
  dexes: [
    {
      name: 'biswap-v2',
      kind: 'uniswap-v2',
      factory: '0x858E3312ed3A876947EA49d572A7C42DE08af7EE',
      feePpm: 2_500,
      initCodeHash: '0xfea293c909d87cd4153593f077b76bb7e94340200f4ee84211ae8e4f9bd7ffdf',
      enabled: false,
      note: 'fees differ by pair',
    },
    lfjLiquidityBook21,
    {
      name: 'pancakeswap-v2',
      kind: 'uniswap-v2',
      factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
      feePpm: 2_500,
      initCodeHash: '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
    },
    pancakeswapV3,
    sushiswapV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    sushiswapV3('0x126555dd55a39328F69400d6aE4F782Bd4C34ABb'),
    {
      name: 'thena-fusion',
      kind: 'algebra',
      factory: '0x306F06C147f064A010530292A1EB6737c3e378e4',
      initCodeHash: '0xd61302e7691f3169f5ebeca3a0a4ab8f7f998c01e55ec944e62cfb1109fd2736',
    },
    {
      name: 'thena-v1',
      kind: 'solidly',
      fork: 'velodrome-v1',
      factory: '0xAFD89d21BdB66d00817d4153E055830B1c2B3970',
      initCodeHash: '0x8d3d214c094a9889564f695c3e9fa516dd3b50bc3258207acd7f8b8e6b94fb65',
    },
    uniswapV2('0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6'),
    uniswapV3('0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7'),
    uniswapV4('0x28e2ea090877bf75740558f6bfb36a5ffee9e9df'),
    ...balancerV2.bsc,
  ],
})
