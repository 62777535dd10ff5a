import { defineDexes } from './define-dexes.ts'
import { uniswapV2, uniswapV3, uniswapV4, velodrome } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const uni = defineDexes({
  network: 'uni',
  wrapped: '0x4200000000000000000000000000000000000006',
  connectors: [
    // USDC
    '0x078D782b760474a361dDA0AF3839290b0EF57AD6',
    // USDT0
    '0x9151434b16b9763660705744891fA906F660EcC5',
    // UNI
    '0x8f187aA05619a017077f5308904739877ce9eA21',
    // wstETH
    '0xc02fE7317D4eb8753a02c35fe019786854A92001',
  ],
  stablecoin: '0x078D782b760474a361dDA0AF3839290b0EF57AD6',
  dexes: [
    uniswapV2('0x1f98400000000000000000000000000000000002'),
    uniswapV3('0x1f98400000000000000000000000000000000003'),
    uniswapV4('0x1f98400000000000000000000000000000000004'),
    ...velodrome,
  ],
})
