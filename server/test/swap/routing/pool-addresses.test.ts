import { describe, expect, test } from 'vitest'
import { dexNetworks } from '../../../dexes/index.ts'
import { create2Address } from '../../../src/adapters/dex/check-dexes.ts'

// Compares addresses computed with the init code hashes in server/dexes with widely published pool addresses. A wrong hash disables a DEX.

const pools = [
  [
    'base',
    'aerodrome',
    false,
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  ],
  [
    'base',
    'equalizer',
    false,
    '0x4200000000000000000000000000000000000006',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  ],
  [
    'op',
    'velodrome-v2',
    false,
    '0x4200000000000000000000000000000000000006',
    '0x7F5c764cBc14f9669B88837ca1490cCa17c31607',
  ],
  [
    'op',
    'velodrome-v1',
    false,
    '0x4200000000000000000000000000000000000006',
    '0x7F5c764cBc14f9669B88837ca1490cCa17c31607',
  ],
  ['bsc', 'thena-v1', true, '0x55d398326f99059fF775485246999027B3197955', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'],
  [
    'linea',
    'lynex-v1',
    false,
    '0x176211869cA2b568f2A7D4EE941E073a821EE1ff',
    '0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f',
  ],
  [
    'matic',
    'dystopia',
    false,
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
  ],
] as const
const published: Readonly<Record<string, string>> = {
  'base aerodrome': '0xcDAC0d6c6C59727a65F871236188350531885C43',
  'base equalizer': '0x83240b049Fa89b65be714aeD68e5B074df6aAc84',
  'op velodrome-v2': '0x0493Bf8b6DBB159Ce2Db2E0E8403E753Abd1235b',
  'op velodrome-v1': '0x79c912FEF520be002c2B6e57EC4324e260f38E50',
  'bsc thena-v1': '0x618f9Eb0E1a698409621f4F487B563529f003643',
  'linea lynex-v1': '0x6FB44889a9aA69F7290258D3716BfFcB33CdE184',
  'matic dystopia': '0x60c088234180b36EDcec7AA8Aa23912Bb6bed114',
}

type Key = Omit<Parameters<typeof create2Address>[1], 'tokens'>

/** The pool address that follows from the init code hash in server/dexes. */
function computeAddress(network: string, name: string, tokens: readonly string[], key: Key): string | null {
  const dex = dexNetworks.find((one) => one.network === network)?.dexes.find((one) => one.name === name)
  if (dex?.initCodeHash === undefined) throw new Error(`server/dexes has no init code hash of ${name} on ${network}`)
  return create2Address(dex, { tokens: tokens.map((token) => token.toLowerCase()), ...key }, dex.initCodeHash)
}

describe('init code hashes of Solidly forks', () => {
  test.each(pools)('%s: %s, stable %s', (network, name, stable, ...tokens) => {
    expect(computeAddress(network, name, tokens, { stable })).toBe(published[`${network} ${name}`]?.toLowerCase())
  })
})

// Forks of Uniswap V3. The pool key has the tick spacing or, for Ramses, the initial fee.
const concentrated = [
  {
    ...{ network: 'base', name: 'aerodrome-slipstream', key: { tickSpacing: 100 } },
    tokens: ['0x4200000000000000000000000000000000000006', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    address: '0xb2cc224c1c9feE385f8ad6a55b4d94E92359DC59',
  },
  {
    ...{ network: 'op', name: 'velodrome-slipstream', key: { tickSpacing: 100 } },
    tokens: ['0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', '0x4200000000000000000000000000000000000006'],
    address: '0x478946BcD4a5a22b316470F5486fAfb928C0bA25',
  },
  {
    ...{ network: 'sonic', name: 'shadow-cl', key: { tickSpacing: 50 } },
    tokens: ['0x039e2fB66102314Ce7b64Ce5Ce3E5183bc94aD38', '0x29219dd400f2Bf60E5a23d13Be72B486D4038894'],
    address: '0x324963c267C354c7660Ce8CA3F5f167E05649970',
  },
  {
    ...{ network: 'arbitrum', name: 'ramses-cl', key: { feePpm: 500 } },
    tokens: ['0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
    address: '0x30AFBcF9458c3131A6d051C621E307E6278E4110',
  },
  {
    ...{ network: 'eth', name: 'solidly-v3', key: { tickSpacing: 10 } },
    tokens: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'],
    address: '0x831BF48183B999fDe45294b14B55199072f0801B',
  },
] as const

describe('init code hashes of Uniswap V3 forks', () => {
  test.each(concentrated)('$network $name', ({ network, name, key, tokens, address }) => {
    expect(computeAddress(network, name, tokens, key)).toBe(address.toLowerCase())
  })
})
