import { defineDexes } from '../src/swap/domain/dex.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const celo = defineDexes({
  network: 'celo',
  wrapped: '0x471EcE3750Da237f93B8E339c536989b8978a438',
  nativeIsToken: true,
  connectors: [
    '0xcebA9300f2b948710d2653dD7B07f33A8B32118C',
    '0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e',
    '0x765DE816845861e75A25fCA122bb6898B8B1282a',
  ],
  stablecoin: '0xcebA9300f2b948710d2653dD7B07f33A8B32118C',
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  dexes: [
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
      factory: '0x93395129bd3fcf49d95730D3C2737c17990fF328',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
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
    {
      name: 'uniswap-v3',
      kind: 'uniswap-v3',
      factory: '0xAfE208a311B21f13EF87E33A90049fC17A7acDEc',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
    {
      name: 'uniswap-v4',
      kind: 'uniswap-v4',
      factory: '0x288dc841A52FCA2707c6947B3A777c5E56cd87BC',
    },
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
  ],
})
