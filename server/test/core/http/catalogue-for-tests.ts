import { type Catalogue, createCatalogue } from '../../../src/core/domain/catalogue.ts'
import type { CurrencyDefinition } from '../../../src/core/domain/currency.ts'
import { defineNetwork, type EvmParameters, type NetworkDefinition } from '../../../src/core/domain/network.ts'

type Shape = Pick<NetworkDefinition, 'id' | 'name' | 'decimals' | 'memo' | 'memoName'> & {
  regexAddress: string
  evm?: EvmParameters
}

function createNetwork({ regexAddress, evm, ...shape }: Shape): NetworkDefinition {
  const { id } = shape
  const explorers = {
    addressExplorer: `https://explorer.test/${id}/{}`,
    txExplorer: `https://explorer.test/${id}/tx/{}`,
  }
  const environment = { confirmations: 2, finalityBlocks: 10, regexAddress, ...explorers, ...(evm && { evm }) }
  return defineNetwork({
    ...shape,
    family: 'bitcoin',
    coinType: 0,
    symbol: id.toUpperCase(),
    blockTimeMs: 1_000,
    tokenSuffix: id.toUpperCase(),
    production: environment,
    sandbox: environment,
  })
}

const networks = [
  createNetwork({
    id: 'btc',
    name: 'Bitcoin',
    decimals: 8,
    memo: 'none',
    regexAddress: '^bcrt1[02-9ac-hj-np-z]{38,58}$',
  }),
  createNetwork({
    id: 'eth',
    name: 'Ethereum',
    decimals: 18,
    memo: 'none',
    regexAddress: '^0x[0-9a-fA-F]{40}$',
    evm: { chainId: 1, finalityTag: null, dynamicFees: true },
  }),
  createNetwork({
    id: 'xrp',
    name: 'XRP Ledger',
    decimals: 6,
    memo: 'required',
    memoName: 'Destination tag',
    regexAddress: '^r[1-9A-HJ-NP-Za-km-z]{24,34}$',
  }),
  createNetwork({
    id: 'doge',
    name: 'Dogecoin',
    decimals: 8,
    memo: 'none',
    regexAddress: '^D[1-9A-HJ-NP-Za-km-z]{33}$',
  }),
]

function createCurrency(
  ticker: string,
  networkId: string,
  rank: number,
  extra: Partial<CurrencyDefinition> = {},
): CurrencyDefinition {
  return {
    ticker,
    network: networkId,
    symbol: ticker.toUpperCase(),
    name: ticker.toUpperCase(),
    decimals: networks.find(({ id }) => id === networkId)?.decimals ?? 0,
    contract: null,
    assetClass: 'major',
    isStable: false,
    isPeggedToUsd: false,
    isFiat: false,
    supportsFixedRate: true,
    rank,
    icon: ticker,
    priceKey: ticker,
    ...extra,
  }
}

/** Four networks: doge is disabled; xrp requires memos and has no fixed rates. */
export function createTestCatalogue(): Catalogue {
  const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
  return createCatalogue({
    environment: 'sandbox',
    networks,
    currencies: [
      createCurrency('btc', 'btc', 1),
      createCurrency('eth', 'eth', 2),
      createCurrency('usdt', 'eth', 3, { decimals: 6, contract, isStable: true, assetClass: 'stable' }),
      createCurrency('xrp', 'xrp', 4, { supportsFixedRate: false }),
      createCurrency('doge', 'doge', 5),
    ],
    tokens: { eth: { usdt: contract } },
    enabled: (id) => id !== 'doge',
  })
}
