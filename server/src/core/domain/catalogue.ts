import { assert, present } from '../../lib/assert.ts'
import { type Asset, type AssetId, assetId } from './asset.ts'
import { type Currency, type CurrencyDefinition, toAsset } from './currency.ts'
import { type Environment, type Network, type NetworkDefinition, type NetworkId, resolveNetwork } from './network.ts'

/** Listed currencies and their networks. Lookups accept any letter case and aliases. */
export type Catalogue = Readonly<{
  environment: Environment
  /** Every listing, enabled or disabled, by rank. */
  list(): readonly Currency[]
  /** By ticker or contract address, and by network or EVM chain id (`1`, `eip155:1`). */
  find(ticker: string, network: string): Currency | null
  findNetwork(network: string): Network | null
  networks(): readonly Network[]
  findAsset(id: string): Asset | null
  /** For an id from our own database: throws if the catalogue does not list it. */
  assetById(id: string): Asset
}>

export type CatalogueParts = Readonly<{
  networks: readonly NetworkDefinition[]
  currencies: readonly CurrencyDefinition[]
  environment: Environment
  /** Contracts on the sandbox's chains, by network and ticker (`chains.json`). Production uses those of the definitions. */
  tokens: Readonly<Record<NetworkId, Readonly<Record<string, string>>>>
  /** Whether this network has an adapter and a node. */
  enabled(network: NetworkId): boolean
  /** Asset ids that the operator disabled. */
  disabled?: ReadonlySet<string>
}>

export function createCatalogue(parts: CatalogueParts): Catalogue {
  const networks = new Map<NetworkId, Network>()
  for (const definition of parts.networks) {
    assert(!networks.has(definition.id), `network ${definition.id} is defined once`)
    networks.set(definition.id, resolveNetwork(definition, parts.environment))
  }
  const byId = new Map<string, Currency>()
  for (const definition of parts.currencies) {
    const currency = toCurrency(definition, networks, parts)
    assert(!byId.has(currency.asset.id), `currency ${currency.asset.id} is listed once`)
    byId.set(currency.asset.id, currency)
  }
  const currencies = Object.freeze([...byId.values()].sort(byRank))
  const findAsset = (id: string) => byId.get(id)?.asset ?? null
  const byContract = new Map(
    currencies.flatMap((one) =>
      one.asset.contract === null ? [] : [[`${contractKey(one.asset.contract)}@${one.network.id}`, one] as const],
    ),
  )
  const byChainId = new Map(
    [...networks.values()].flatMap(({ id, evm }) => (evm === undefined ? [] : [[String(evm.chainId), id] as const])),
  )
  const networkIdOf = (text: string): NetworkId => {
    const id = canonicalNetwork(text)
    return networks.has(id) ? id : (byChainId.get(id.replace(/^eip155:/, '')) ?? id)
  }
  return Object.freeze({
    environment: parts.environment,
    list: () => currencies,
    find: (ticker: string, network: string) => {
      const id = networkIdOf(network)
      return byId.get(assetId(canonicalTicker(ticker), id)) ?? byContract.get(`${contractKey(ticker)}@${id}`) ?? null
    },
    findNetwork: (network: string) => networks.get(networkIdOf(network)) ?? null,
    networks: () => [...networks.values()],
    findAsset,
    assetById: (id: string) => present(findAsset(id), `asset ${id} of the catalogue`),
  })
}

function toCurrency(
  definition: CurrencyDefinition,
  networks: ReadonlyMap<NetworkId, Network>,
  parts: CatalogueParts,
): Currency {
  const network = present(networks.get(definition.network), `network ${definition.network} of ${definition.ticker}`)
  const isNative = definition.contract === null
  assert(!isNative || definition.decimals === network.decimals, `${definition.ticker} has its network's decimals`)
  const deployed = parts.environment === 'sandbox' ? deployedContract(parts.tokens, definition) : definition.contract
  return Object.freeze({
    definition,
    // A token that is not deployed keeps its production contract: null would make it the native currency.
    asset: toAsset(definition, deployed ?? definition.contract),
    network,
    enabled:
      parts.enabled(network.id) &&
      (isNative || deployed !== null) &&
      !parts.disabled?.has(assetId(definition.ticker, definition.network)),
  })
}

/** An EVM address means the same in any case; those of other families do not. */
export const contractKey = (contract: string): string => (/^0x/i.test(contract) ? contract.toLowerCase() : contract)

function deployedContract(tokens: CatalogueParts['tokens'], definition: CurrencyDefinition): string | null {
  if (definition.contract === null || !Object.hasOwn(tokens, definition.network)) return null
  const ofNetwork = tokens[definition.network] ?? {}
  return Object.hasOwn(ofNetwork, definition.ticker) ? (ofNetwork[definition.ticker] ?? null) : null
}

function byRank(a: Currency, b: Currency): number {
  return a.definition.rank - b.definition.rank || (a.asset.id < b.asset.id ? -1 : 1)
}

/** Lower case, with aliases replaced by our name. Unknown names are returned in lower case. */
export function canonicalNetwork(text: string): string {
  const lower = text.toLowerCase()
  return networkAliases.get(lower) ?? lower
}

export function canonicalTicker(text: string): string {
  const lower = text.toLowerCase()
  return tickerAliases.get(lower) ?? lower
}

/**
 * Codes of the public rates feed, as rate monitors expect them: the ticker in capitals. A token has its network's suffix
 * (`USDTTRC20`); a native currency has one only outside its main network (`ETHBASE`). Takes all listings, also disabled
 * ones, so that a code does not change when a network is down.
 */
export function feedCodes(currencies: readonly Currency[]): Map<AssetId, string> {
  const nativeCounts = new Map<string, number>()
  for (const { definition } of currencies) {
    const { contract, ticker } = definition
    if (contract === null) nativeCounts.set(ticker, (nativeCounts.get(ticker) ?? 0) + 1)
  }
  const codes = new Map<AssetId, string>()
  const assetByCode = new Map<string, AssetId>()
  for (const { definition, asset, network } of currencies) {
    const isOnMainNetwork =
      definition.contract === null && (network.id === definition.ticker || nativeCounts.get(definition.ticker) === 1)
    const code = definition.feedCode ?? definition.ticker.toUpperCase() + (isOnMainNetwork ? '' : network.tokenSuffix)
    assert(/^[A-Z0-9]{1,32}$/.test(code), `${asset.id} has a plain feed code`)
    assert(!assetByCode.has(code), `feed code ${code} of ${asset.id} is not also that of ${assetByCode.get(code)}`)
    assetByCode.set(code, asset.id)
    codes.set(asset.id, code)
  }
  return codes
}

/** File name of the icon in the icon package. The check excludes paths. */
export function iconFile(definition: Pick<CurrencyDefinition, 'icon'>): string {
  assert(/^[a-z0-9]{1,32}$/.test(definition.icon), `icon ${definition.icon} is a plain name`)
  return `${definition.icon}.svg`
}

/** Path of a currency's icon, relative to the server's public URL. */
export function iconPath(definition: Pick<CurrencyDefinition, 'ticker'>): string {
  assert(/^[a-z0-9]{1,32}$/.test(definition.ticker), `ticker ${definition.ticker} is a plain name`)
  return `/icons/${definition.ticker}.svg`
}

function aliasesOf(names: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name] as const)))
}

/** Names that other services use, by our name. An alias is never our name for another network. */
export const networkAliases = aliasesOf({
  btc: ['bitcoin', 'xbt'],
  ltc: ['litecoin'],
  doge: ['dogecoin'],
  bch: ['bitcoincash', 'bitcoin-cash'],
  eth: ['ethereum', 'erc20', 'erc-20'],
  arbitrum: ['arb', 'arb1', 'arbitrumone', 'arbitrum-one'],
  bsc: ['bep20', 'bep-20', 'bnb', 'bnbchain', 'binance-smart-chain'],
  cchain: ['avaxc', 'avax', 'avax-c', 'avaxcchain', 'avalanche', 'c-chain'],
  matic: ['polygon', 'pol'],
  op: ['optimism', 'opmainnet'],
  sei: ['seievm'],
  sonic: ['s'],
  uni: ['unichain'],
  xmr: ['monero'],
  sol: ['solana', 'spl'],
  xrp: ['ripple', 'xrpl'],
  xlm: ['stellar'],
  ton: ['toncoin'],
  trx: ['tron', 'trc20', 'trc-20'],
})

/** MATIC was renamed to POL, one for one, as Polygon's native currency. */
export const tickerAliases = aliasesOf({
  btc: ['bitcoin', 'xbt'],
  ltc: ['litecoin'],
  doge: ['dogecoin'],
  bch: ['bitcoincash', 'bitcoin-cash'],
  eth: ['ethereum', 'ether'],
  usdt: ['tether'],
  avax: ['avalanche'],
  pol: ['matic', 'polygon'],
  xmr: ['monero'],
  sol: ['solana'],
  xrp: ['ripple'],
  xlm: ['stellar'],
  ton: ['toncoin'],
  trx: ['tron'],
})
