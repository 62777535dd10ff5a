import { defineDexes } from '../src/swap/domain/dex.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const uni = defineDexes({
  network: 'uni',
  wrapped: '0x4200000000000000000000000000000000000006',
  connectors: ['0x078D782b760474a361dDA0AF3839290b0EF57AD6'],
  stablecoin: '0x078D782b760474a361dDA0AF3839290b0EF57AD6',
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  dexes: [
    {
      name: 'uniswap-v2',
      kind: 'uniswap-v2',
      factory: '0x1f98400000000000000000000000000000000002',
      feePpm: 3_000,
      initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    },
    {
      name: 'uniswap-v3',
      kind: 'uniswap-v3',
      factory: '0x1f98400000000000000000000000000000000003',
      initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
    },
    {
      name: 'uniswap-v4',
      kind: 'uniswap-v4',
      factory: '0x1f98400000000000000000000000000000000004',
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
