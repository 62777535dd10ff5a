import { type Catalogue, createCatalogue } from '../../../src/core/domain/catalogue.ts'
import type { CurrencyDefinition } from '../../../src/core/domain/currency.ts'
import { defineNetwork, type NetworkDefinition } from '../../../src/core/domain/network.ts'

type Shape = { id: string; name: string; decimals: number; memo: 'none' | 'required'; regexAddress: string }

function network({ id, name, decimals, memo, regexAddress }: Shape): NetworkDefinition {
  const explorers = {
    addressExplorer: `https://explorer.test/${id}/{}`,
    txExplorer: `https://explorer.test/${id}/tx/{}`,
  }
  const environment = { confirmations: 2, finalityBlocks: 10, regexAddress, ...explorers }
  return defineNetwork({
    id,
    name,
    family: 'bitcoin',
    coinType: 0,
    symbol: id.toUpperCase(),
    decimals,
    memo,
    blockTimeMs: 1_000,
    tokenSuffix: id.toUpperCase(),
    production: environment,
    sandbox: environment,
  })
}

const networks = [
  network({ id: 'btc', name: 'Bitcoin', decimals: 8, memo: 'none', regexAddress: '^bcrt1[02-9ac-hj-np-z]{38,58}$' }),
  network({ id: 'eth', name: 'Ethereum', decimals: 18, memo: 'none', regexAddress: '^0x[0-9a-fA-F]{40}$' }),
  network({
    id: 'xrp',
    name: 'XRP Ledger',
    decimals: 6,
    memo: 'required',
    regexAddress: '^r[1-9A-HJ-NP-Za-km-z]{24,34}$',
  }),
  network({ id: 'doge', name: 'Dogecoin', decimals: 8, memo: 'none', regexAddress: '^D[1-9A-HJ-NP-Za-km-z]{33}$' }),
]

function currency(
  ticker: string,
  on: string,
  rank: number,
  extra: Partial<CurrencyDefinition> = {},
): CurrencyDefinition {
  return {
    ticker,
    network: on,
    symbol: ticker.toUpperCase(),
    name: ticker.toUpperCase(),
    decimals: networks.find(({ id }) => id === on)?.decimals ?? 0,
    contract: null,
    assetClass: 'major',
    isStable: false,
    isFiat: false,
    supportsFixedRate: true,
    rank,
    icon: ticker,
    priceKey: ticker,
    ...extra,
  }
}

/** Four networks, one of them down (doge), one that demands memos (xrp, which has no fixed rates either). */
export function createTestCatalogue(): Catalogue {
  const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
  return createCatalogue({
    environment: 'sandbox',
    networks,
    currencies: [
      currency('btc', 'btc', 1),
      currency('eth', 'eth', 2),
      currency('usdt', 'eth', 3, { decimals: 6, contract, isStable: true, assetClass: 'stable' }),
      currency('xrp', 'xrp', 4, { supportsFixedRate: false }),
      currency('doge', 'doge', 5),
    ],
    tokens: { eth: { usdt: contract } },
    enabled: (id) => id !== 'doge',
  })
}
