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
  uniswapV3Hash,
  uniswapV4,
} from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const base = defineDexes({
  network: 'base',
  wrapped: '0x4200000000000000000000000000000000000006',
  connectors: [
    // USDC
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    // cbBTC
    '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf',
    // AERO
    '0x940181a94A35A4569E4529A3CDfB74e38FD98631',
    // VIRTUAL
    '0x0b3e328455c4059EEb9e3f84b5543F74E24e7E1b',
    // wstETH
    '0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452',
    // USDbC
    '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA',
    // EURC
    '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42',
  ],
  stablecoin: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  dexes: [
    {
      name: 'aerodrome',
      kind: 'solidly',
      fork: 'velodrome-v2',
      factory: '0x420DD381b31aEf6683db6B902084cB0FFECe40Da',
      initCodeHash: '0x6f178972b07752b522a4da1c5b71af6524e8b0bd6027ccb29e5312b0e5bcdc3c',
    },
    {
      name: 'aerodrome-slipstream',
      kind: 'slipstream',
      factory: '0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A',
      initCodeHash: '0xffb9af9ea6d9e39da47392ecc7055277b9915b8bfc9f83f105821b7791a6ae30',
    },
    {
      name: 'aerodrome-slipstream-b',
      kind: 'slipstream',
      factory: '0xaDe65c38CD4849aDBA595a4323a8C7DdfE89716a',
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'aerodrome-slipstream-b-b',
      kind: 'slipstream',
      factory: '0xf8f2eB4940CFE7d13603DDDD87f123820Fc061Ef',
      enabled: false,
      note: 'only one source confirms the address',
    },
    {
      name: 'alienbase-v2',
      kind: 'uniswap-v2',
      factory: '0x3E84D913803b02A4a7f027165E8cA42C14C0FdE7',
      feePpm: 1_600,
    },
    {
      name: 'alienbase-v3',
      kind: 'uniswap-v3',
      factory: '0x0Fd83557b2be93617c9C1C1B6fd549401C74558C',
      initCodeHash: uniswapV3Hash,
    },
    {
      name: 'equalizer',
      kind: 'solidly',
      fork: 'equalizer',
      factory: '0xEd8db60aCc29e14bC867a497D94ca6e3CeB5eC04',
      initCodeHash: '0x7ba31a081e879b8e7f06d4e8bf5ee26b5c2680669c5701f4cdbdcde51727b275',
    },
    pancakeswapV2('0x02a84c1b3BBD7401a5f7fa98a384EBC70bB5749E'),
    pancakeswapV3,
    {
      name: 'quickswap-v4',
      kind: 'algebra-integral',
      factory: '0xC5396866754799B9720125B104AE01d935Ab9C7b',
      enabled: false,
      note: 'only one source confirms the address',
    },
    sushiswapV2('0x71524B4f93c58fcbF659783284E38825f0622859'),
    sushiswapV3('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    uniswapV2('0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6'),
    uniswapV3('0x33128a8fC17869897dcE68Ed026d694621f6FDfD'),
    uniswapV4('0x498581ff718922c3f8e6a244956af099b2652b2b'),
    {
      name: 'curve-factory',
      kind: 'curve-stable',
      factory: '0x3093f9b57a428f3eb6285a589cb35bea6e78c336',
      implementations: [
        '0xD166EEdf272B860E991d331B71041799379185D5',
        '0xA50d9a424A14aF0b9e7e9243dc1597d977f6cB09',
        '0xeD49979026DC44DC7E83b1471794ec9b2a365Ea2',
        '0x1086F023146f9026A9Bb22983CE866813C59518A',
        '0x1621E58d36EB5Ef26F9768Ebe9DB77181b1f5a02',
        '0x44d9B3f4EE15AC81FEb918501fca0ddc9d83C976',
      ],
    },
    curveStableswapNg('0xd2002373543ce3527023c75e7518c274a51ce712'),
    ...balancerV2.base,
  ],
})
