import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import {
  curveStableswapNg,
  pancakeswapV2,
  pancakeswapV3,
  sushiswapV2,
  sushiswapV3,
  uniswapV2,
  uniswapV3,
  uniswapV4,
} from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const eth = defineDexes({
  network: 'eth',
  wrapped: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  connectors: [
    // USDC
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    // USDT
    '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    // DAI
    '0x6B175474E89094C44Da98b954EedeAC495271d0F',
    // WBTC
    '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599',
    // wstETH
    '0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0',
    // cbBTC
    '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf',
    // USDe
    '0x4c9EDD5852cd905f086C759E8383e09bff1E68B3',
  ],
  stablecoin: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  dexes: [
    pancakeswapV2('0x1097053Fd2ea711dad45caCcc45EfF7548fCB362'),
    pancakeswapV3,
    {
      name: 'shibaswap',
      kind: 'uniswap-v2',
      factory: '0x115934131916C8b277DD010Ee02de363c09d037c',
      feePpm: 3_000,
      initCodeHash: '0x65d1a3b1e46c6e4f1be1ad5f99ef14dc488ae0549dc97db9b30afe2241ce1c7a',
    },
    {
      name: 'solidly-v3',
      kind: 'solidly-v3',
      factory: '0x70Fe4a44EA505cFa3A57b95cF2862D4fd5F0f687',
      initCodeHash: '0xe9b68c5f77858eecac2e651646e208175e9b1359d68d0e14fc69f8c54e5010bf',
    },
    sushiswapV2('0xC0AEe478e3658e2610c5F7A4A2E1777cE9e4f2Ac'),
    sushiswapV3('0xbACEB8eC6b9355Dfc0269C18bac9d6E2Bdc29C4F'),
    uniswapV2('0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f'),
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984'),
    uniswapV4('0x000000000004444c5dc75cB358380D2e3dE08A90'),
    {
      name: 'curve-factory-1',
      kind: 'curve-stable',
      factory: '0xb9fc157394af804a3578134a6585c0dc9cc990d4',
      implementations: [
        '0x6523Ac15EC152Cb70a334230F6c5d62C5Bd963f1',
        '0x4A4d7868390EF5CaC51cDA262888f34bD3025C3F',
        '0xc629a01eC23AB04E1050500A3717A2a5c0701497',
        '0x9B52F13DF69D79Ec5aAB6D1aCe3157d29B409cC3',
        '0xE5F4b89E0A16578B3e0e7581327BDb4C712E44De',
        '0x5Bd47eA4494e0F8DE6e3Ca10F1c05F55b72466B8',
        '0xaD4753D045D3Aed5C1a6606dFb6a7D7AD67C1Ad7',
      ],
    },
    {
      name: 'curve-factory-2',
      kind: 'curve-stable',
      factory: '0x4f8846ae9380b90d2e71d5e3d042dff3e7ebb40d',
      implementations: ['0x67fe41A94e779CcFa22cff02cc2957DC9C0e4286'],
    },
    {
      name: 'curve-registry',
      kind: 'curve-stable',
      factory: '0x90E00ACe148ca3b23Ac1bC8C240C2a7Dd9c2d7f5',
      // 3pool, FRAX/USDC and HBTC/WBTC. The sUSD pool is missing because its contract computes differently.
      pools: [
        '0xbEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7',
        '0xDcEF968d416a41Cdac0ED8702fAC8128A64241A2',
        '0x4CA9b3063Ec5866A4B82E437059D2C43d1be596F',
      ],
    },
    {
      ...curveStableswapNg('0x6a8cbed756804b16e05e741edabd5cb544ae21bf'),
      // sDAI/sUSDe: each token is an ERC-4626 vault of its own issuer.
      rated: ['0x167478921b907422F8E88B43C4Af2B8BEa278d3A'],
    },
    ...balancerV2.eth,
  ],
})
