import { defineDexes } from './define-dexes.ts'
import { curveStableswapNg, sushiswapV2, sushiswapV3, uniswapV3, uniswapV3Hash } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const sonic = defineDexes({
  network: 'sonic',
  wrapped: '0x039e2fB66102314Ce7b64Ce5Ce3E5183bc94aD38',
  connectors: [
    // USDC
    '0x29219dd400f2Bf60E5a23d13Be72B486D4038894',
    // WETH
    '0x50c42dEAcD8Fc9773493ED674b675bE577f2634b',
    // stS
    '0xE5DA20F15420aD15DE0fa650600aFc998bbE3955',
  ],
  stablecoin: '0x29219dd400f2Bf60E5a23d13Be72B486D4038894',
  dexes: [
    {
      name: 'equalizer',
      kind: 'solidly',
      fork: 'equalizer',
      factory: '0xDDD9845Ba0D8f38d3045f804f67A1a8B9A528FcC',
    },
    {
      name: 'metropolis-dlmm',
      kind: 'liquidity-book',
      factory: '0x39D966c1BaFe7D3F1F53dA4845805E15f7D6EE43',
    },
    {
      name: 'metropolis-v2',
      kind: 'uniswap-v2',
      factory: '0x1570300e9cFEC66c9Fb0C8bc14366C86EB170Ad0',
      feePpm: 3_000,
      initCodeHash: '0xb174fb9703cd825ac38ca3cf781a2750d5ee57f4268806e0bca9bcd3d74b67b5',
    },
    {
      name: 'shadow-cl',
      kind: 'ramses-v3',
      factory: '0xcD2d0637c94fe77C2896BbCBB174cefFb08DE6d7',
      initCodeHash: '0xc701ee63862761c31d620a4a083c61bdc1e81761e6b9c9267fd19afd22e0821d',
      deployer: '0x8BBDc15759a8eCf99A92E004E0C64ea9A5142d59',
    },
    {
      name: 'shadow-v2',
      kind: 'solidly',
      factory: '0x2dA25E7446A70D7be65fd4c053948BEcAA6374c8',
      initCodeHash: '0x4ed7aeec7c0286cad1e282dee1c391719fc17fe923b04fb0775731e413ed3554',
      enabled: false,
      note: 'its pairs pay one base unit less than the formula',
    },
    {
      name: 'spookyswap-v2',
      kind: 'uniswap-v2',
      factory: '0xEE4bC42157cf65291Ba2FE839AE127e3Cc76f741',
      enabled: false,
      note: 'its fee is unknown',
    },
    {
      name: 'spookyswap-v3',
      kind: 'uniswap-v3',
      factory: '0x3D91B700252e0E3eE7805d12e048a988Ab69C8ad',
      initCodeHash: uniswapV3Hash,
    },
    sushiswapV2('0xb45e53277a7e0f1d35f2a77160e91e25507f1763'),
    sushiswapV3('0x46B3fDF7b5CDe91Ac049936bF0bDb12c5d22202e'),
    {
      name: 'swapx-cl',
      kind: 'algebra-integral',
      factory: '0x8121a3F8c4176E9765deEa0B95FA2BDfD3016794',
      deployer: '0x885229E48987EA4c68F0aA1bCBff5184198A9188',
      enabled: false,
      note: 'plugins may change the fee before each swap',
    },
    {
      name: 'swapx-v2',
      kind: 'solidly',
      factory: '0x05c1be79d3aC21Cc4B727eeD58C9B2fF757F5663',
      initCodeHash: '0x6c45999f36731ff6ab43e943fca4b5a700786bbb202116cf6633b32039161e05',
      enabled: false,
      note: 'no source documents how to read its fees',
    },
    uniswapV3('0xcb2436774C3e191c85056d248EF4260ce5f27A9D'),
    {
      name: 'wagmi',
      kind: 'uniswap-v3',
      factory: '0x56CFC796bC88C9c7e1b38C2b0aF9B7120B079aef',
      initCodeHash: '0x30146866f3a846fe3c636beb2756dbd24cf321bc52c9113c837c21f47470dfeb',
    },
    curveStableswapNg('0x7c2085419be6a04f4ad88ea91bc9f5c6e6c463d8'),
    {
      name: 'balancer-v2-vault',
      kind: 'balancer-weighted',
      factory: '0xBA12222222228d8Ba445958a75a0704d566BF2C8',
      vault: '0xBA12222222228d8Ba445958a75a0704d566BF2C8',
      enabled: false,
      note: 'the pool factories of the vault are not listed',
    },
  ],
})
