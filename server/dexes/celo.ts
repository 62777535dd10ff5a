import { defineDexes } from './define-dexes.ts'
import { sushiswapV2, sushiswapV3, uniswapV3, uniswapV4, velodrome } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const celo = defineDexes({
  network: 'celo',
  wrapped: '0x471EcE3750Da237f93B8E339c536989b8978a438',
  nativeIsToken: true,
  connectors: [
    // USDC
    '0xcebA9300f2b948710d2653dD7B07f33A8B32118C',
    // USDT
    '0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e',
    // cUSD
    '0x765DE816845861e75A25fCA122bb6898B8B1282a',
    // cEUR
    '0xD8763CBa276a3738E6DE85b4b3bF5FDed6D6cA73',
    // WETH
    '0x2DEf4285787d58a2f811AF24755A8150622f4361',
  ],
  stablecoin: '0xcebA9300f2b948710d2653dD7B07f33A8B32118C',
  dexes: [
    sushiswapV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    {
      ...sushiswapV3('0x93395129bd3fcf49d95730D3C2737c17990fF328'),
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'ubeswap-v2',
      kind: 'uniswap-v2',
      factory: '0x62d5b84bE28a183aBB507E125B384122D2C25fAE',
      feePpm: 3_000,
      initCodeHash: '0xb3b8ff62960acea3a88039ebcf80699f15786f1b17cebd82802f7375827a339c',
    },
    {
      name: 'ubeswap-v3',
      kind: 'uniswap-v3',
      factory: '0x67FEa58D5a5a4162cED847E13c2c81c73bf8aeC4',
    },
    {
      name: 'uniswap-v2',
      kind: 'uniswap-v2',
      factory: '0x79a530c8e2fa8748b7b40dd3629c0520c2ccf03f',
      enabled: false,
      note: 'no reliable source for the address',
    },
    uniswapV3('0xAfE208a311B21f13EF87E33A90049fC17A7acDEc'),
    uniswapV4('0x288dc841A52FCA2707c6947B3A777c5E56cd87BC'),
    ...velodrome,
  ],
})
