import { defineDexes } from './define-dexes.ts'
import { uniswapV3 } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const sei = defineDexes({
  network: 'sei',
  wrapped: '0xE30feDd158A2e3b13e9badaeABaFc5516e95e8C7',
  connectors: [
    // USDC
    '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392',
    // USDT0
    '0x9151434b16b9763660705744891fA906F660EcC5',
    // WETH
    '0x160345fC359604fC6e70E3c5fAcbdE5F7A9342d8',
  ],
  stablecoin: '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392',
  dexes: [
    {
      name: 'dragonswap-v1',
      kind: 'uniswap-v2',
      factory: '0x71f6b49ae1558357bBb5A6074f1143c46cBcA03d',
      feePpm: 3_000,
      initCodeHash: '0x7240a7a71cc85d56ee2e5ca1c5236ce877abc9b49b4696adc94968ef43796fed',
    },
    {
      name: 'dragonswap-v2',
      kind: 'uniswap-v3',
      factory: '0x179D9a5592Bc77050796F7be28058c51cA575df4',
      initCodeHash: '0x7eeacb23bdc28add5b4c2a0b30a03d6280208d04ba9baf8f56e87a331cf73590',
    },
    {
      name: 'kura-cl',
      kind: 'uniswap-v3',
      factory: '0xd0c54c480fD00DDa4DF1BbE041A6881f2F09111e',
      enabled: false,
      note: 'reported closed in January 2026',
    },
    {
      name: 'sailor',
      kind: 'uniswap-v3',
      factory: '0xA51136931fdd3875902618bF6B3abe38Ab2D703b',
      initCodeHash: '0x7e42a0cb49ced239c0037b34de3cb18682ad521ed801bbbc7e0deb38747b6964',
    },
    {
      ...uniswapV3('0x75FC67473A91335B5b8F8821277262a13B38c9b3'),
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'yaka-finance',
      kind: 'uniswap-v2',
      factory: '0xd45dAff288075952822d5323F1d571e73435E929',
      enabled: false,
      note: 'two sources disagree about its kind',
    },
    {
      name: 'yaka-v3',
      kind: 'algebra-integral',
      factory: '0xEdbBc263C74865e67C6b16F47740Fa3901b95Ae1',
      enabled: false,
      note: 'no reliable source for the address',
    },
  ],
})
