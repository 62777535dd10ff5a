import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import {
  lfjLiquidityBook21,
  lfjLiquidityBook22,
  sushiswapV2,
  sushiswapV3,
  uniswapV2,
  uniswapV3,
  uniswapV4,
} from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const cchain = defineDexes({
  network: 'cchain',
  wrapped: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
  connectors: [
    // USDC
    '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    // USDt
    '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
    // WETH.e
    '0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB',
    // BTC.b
    '0x152b9d0FdC40C096757F570A51E494bd4b943E50',
    // USDC.e
    '0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664',
  ],
  stablecoin: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
  dexes: [
    {
      name: 'arena-dex',
      kind: 'uniswap-v2',
      factory: '0xF16784dcAf838a3e16bEF7711a62D12413c39BD1',
      feePpm: 3_000,
      initCodeHash: '0xe5982ea9aa099c260fbe1f626ddf304ecab74f9d85fb8c5277156486875ab7fe',
    },
    {
      name: 'blackhole',
      kind: 'solidly',
      fork: 'blackhole',
      factory: '0xfE926062Fb99CA5653080d6C14fE945Ad68c265C',
    },
    {
      name: 'blackhole-cl',
      kind: 'algebra-integral',
      factory: '0x512eb749541B7cf294be882D636218c84a5e9E5F',
      enabled: false,
      note: 'plugins may change the fee before each swap',
    },
    lfjLiquidityBook21,
    lfjLiquidityBook22,
    {
      name: 'pangolin-v3',
      kind: 'uniswap-v3',
      factory: '0x1128F23D0bc0A8396E9FBC3c0c68f5EA228B8256',
      initCodeHash: '0xa9bb1321d78097b23af97a9c07d5ec13e1adc404334585171c54ecccb5ad93b2',
    },
    {
      name: 'pharaoh-v1',
      kind: 'solidly',
      factory: '0xAAA16c016BF556fcD620328f0759252E29b1AB57',
      initCodeHash: '0xbf2404274de2b11f05e5aebd49e508de933034cb5fa2d0ac3de8cbd4bcef47dc',
      enabled: false,
      note: 'no source documents how to read its fees',
    },
    {
      name: 'pharaoh-v3',
      kind: 'ramses-v3',
      factory: '0xAE6E5c62328ade73ceefD42228528b70c8157D0d',
    },
    sushiswapV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    sushiswapV3('0x3e603C14aF37EBdaD31709C4f848Fc6aD5BEc715'),
    {
      name: 'trader-joe-v1',
      kind: 'uniswap-v2',
      factory: '0x9Ad6C38BE94206cA50bb0d90783181662f0Cfa10',
      feePpm: 3_000,
      initCodeHash: '0x0bbca9af0511ad1a1da383135cf3a8d2ac620e549ef9f6ae3a4c33c2fed0af91',
    },
    uniswapV2('0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C'),
    uniswapV3('0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD'),
    uniswapV4('0x06380c0e0912312b5150364b9dc4542ba0dbbc85'),
    {
      name: 'curve-factory',
      kind: 'curve-stable',
      factory: '0xb17b674d9c5cb2e441f8e196a2f048a81355d031',
      enabled: false,
      note: 'the implementations of its pools are not listed',
    },
    ...balancerV2.cchain,
  ],
})
