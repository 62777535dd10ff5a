import { defineDexes } from './define-dexes.ts'
import { pancakeswapV2, pancakeswapV3, sushiswapV2, sushiswapV3, uniswapV3 } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const linea = defineDexes({
  network: 'linea',
  wrapped: '0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f',
  connectors: [
    // USDC
    '0x176211869cA2b568f2A7D4EE941E073a821EE1ff',
    // USDT
    '0xA219439258ca9da29E9Cc4cE5596924745e12B93',
    // wstETH
    '0xB5beDd42000b71FddE22D3eE8a79Bd49A568fC8F',
  ],
  stablecoin: '0x176211869cA2b568f2A7D4EE941E073a821EE1ff',
  dexes: [
    {
      name: 'etherex',
      kind: 'solidly',
      factory: '0xC0b920f6f1d6122B8187c031554dc8194F644592',
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'horizon-dex',
      kind: 'algebra-integral',
      factory: '0xA76990a229961280200165c4e08c96Ea67304C3e',
      initCodeHash: '0xf96d2474815c32e070cd63233f06af5413efc5dcb430aee4ff18cc29007c562d',
      enabled: false,
      note: 'no reliable source for the address',
    },
    {
      name: 'lynex',
      kind: 'algebra',
      factory: '0x622b2c98123D303ae067DB4925CD6282B3A08D0F',
      deployer: '0x9A89490F1056A7BC607EC53F93b921fE666A2C48',
      enabled: false,
      note: 'version 1.9: its fees per direction cannot be forecast',
    },
    {
      name: 'lynex-v1',
      kind: 'solidly',
      fork: 'velodrome-v1',
      factory: '0xBc7695Fd00E3b32D08124b7a4287493aEE99f9ee',
      initCodeHash: '0xf40e8808230a29863f9f7f99beb90d28bca2c60094e78d93cca67f746dbfd142',
    },
    {
      name: 'nile-cl',
      kind: 'ramses-v2',
      factory: '0xAAA32926fcE6bE95ea2c51cB4Fcb60836D320C42',
      initCodeHash: '0x1565b129f2d1790f12d45301b9b084335626f0c92410bc43130763b69971135d',
    },
    {
      name: 'nile-v1',
      kind: 'solidly',
      factory: '0xAAA16c016BF556fcD620328f0759252E29b1AB57',
      initCodeHash: '0xbf2404274de2b11f05e5aebd49e508de933034cb5fa2d0ac3de8cbd4bcef47dc',
      enabled: false,
      note: 'no source documents how to read its fees',
    },
    pancakeswapV2('0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E'),
    pancakeswapV3,
    sushiswapV2('0xFbc12984689e5f15626Bad03Ad60160Fe98B303C'),
    sushiswapV3('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    uniswapV3('0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9'),
  ],
})
