import { defineDexes } from '../src/swap/domain/dex.ts'
import { balancerV2 } from './balancer-v2.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const bsc = defineDexes({
  network: 'bsc',
  wrapped: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
  connectors: [
    '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    '0x55d398326f99059fF775485246999027B3197955',
    '0x2170Ed0880ac9A755fd29B2688956BD959F933F8',
    '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c',
  ],
  stablecoin: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
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
    {
      name: 'lfj-liquidity-book-2-1',
      kind: 'liquidity-book',
      factory: '0x8e42f2F4101563bF679975178e880FD87d3eFd4e',
    },
    {
      name: 'pancakeswap-v2',
      kind: 'uniswap-v2',
      factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
      feePpm: 2_500,
      initCodeHash: '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
    },
    {
      name: 'pancakeswap-v3',
      kind: 'uniswap-v3',
      factory: '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
      initCodeHash: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
      deployer: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
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
      factory: '0x126555dd55a39328F69400d6aE4F782Bd4C34ABb',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
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
    {
      name: 'uniswap-v2',
      kind: 'uniswap-v2',
      factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6',
      feePpm: 3_000,
      initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    },
    {
      name: 'uniswap-v3',
      kind: 'uniswap-v3',
      factory: '0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
    {
      name: 'uniswap-v4',
      kind: 'uniswap-v4',
      factory: '0x28e2ea090877bf75740558f6bfb36a5ffee9e9df',
    },
    ...balancerV2.bsc,
  ],
})
