import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import { curveStableswapNg, sushiswapV2, sushiswapV3, uniswapV2, uniswapV3, uniswapV4 } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const op = defineDexes({
  network: 'op',
  wrapped: '0x4200000000000000000000000000000000000006',
  connectors: [
    // USDC
    '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    // USDT
    '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
    // DAI
    '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
    // OP
    '0x4200000000000000000000000000000000000042',
    // wstETH
    '0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb',
    // USDC.e
    '0x7F5c764cBc14f9669B88837ca1490cCa17c31607',
    // WBTC
    '0x68f180fcCe6836688e9084f035309E29Bf0A2095',
    // VELO
    '0x9560e827aF36c94D2Ac33a39bCE1Fe78631088Db',
  ],
  stablecoin: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
  dexes: [
    sushiswapV2('0xFbc12984689e5f15626Bad03Ad60160Fe98B303C'),
    sushiswapV3('0x9c6522117e2ed1fE5bdb72bb0eD5E3f2bdE7DBe0'),
    uniswapV2('0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf'),
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984'),
    uniswapV4('0x9a13f98cb987694c9f086b1f5eb990eea8264ec3'),
    {
      name: 'velodrome-slipstream',
      kind: 'slipstream',
      factory: '0xCc0bDDB707055e04e497aB22a59c2aF4391cd12F',
      initCodeHash: '0x339492e30b7a68609e535da9b0773082bfe60230ca47639ee5566007d525f5a7',
    },
    {
      name: 'velodrome-slipstream-2',
      kind: 'slipstream',
      factory: '0xe13Dd1fbA721Aa81a1826D9523AC9BC7d260c879',
      initCodeHash: '0x25efd0c736ab957a957b36c2c75a91187f58a107ecb5c7f04ba8f02d4984917f',
    },
    {
      name: 'velodrome-v1',
      kind: 'solidly',
      fork: 'velodrome-v1',
      factory: '0x25CbdDb98b35ab1FF77413456B31EC81A6B6B746',
      initCodeHash: '0xc1ac28b1c4ebe53c0cff67bab5878c4eb68759bb1e9f73977cd266b247d149f0',
    },
    {
      name: 'velodrome-v2',
      kind: 'solidly',
      fork: 'velodrome-v2',
      factory: '0xF1046053aa5682b4F9a81b5481394DA16BE5FF5a',
      initCodeHash: '0xc0629f1c7daa09624e54d4f711ba99922a844907cce02997176399e4cc7e8fcf',
    },
    {
      name: 'curve-factory',
      kind: 'curve-stable',
      factory: '0x2db0e83599a91b508ac268a6197b8b14f5e72840',
      implementations: [
        '0xC2b1DF84112619D190193E48148000e3990Bf627',
        '0x73Ec37618683C274D0bBf5f5726aA856B2BDAB81',
        '0x0f9cb53Ebe405d49A0bbdBD291A65Ff571bC83e1',
        '0x78D0fC2B9D5AE65512DB242e424a9c683F18c243',
        '0x6D65b498cb23deAba52db31c93Da9BFFb340FB8F',
        '0x445FE580eF8d70FF569aB36e80c647af338db351',
        '0x8474DdbE98F5aA3179B3B3F5942D724aFcdec9f6',
      ],
    },
    curveStableswapNg('0x5eee3091f747e60a045a2e715a4c71e600e31f6e'),
    ...balancerV2.op,
  ],
})
