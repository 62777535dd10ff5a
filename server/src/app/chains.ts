import { join } from 'node:path'
import { currencies } from '../../currencies/index.ts'
import { networks as definitions } from '../../networks/index.ts'
import { createBitcoinChain } from '../adapters/chains/bitcoin/chain.ts'
import { createBitcoinSigning } from '../adapters/chains/bitcoin/sign.ts'
import { createEvmChain } from '../adapters/chains/evm/chain.ts'
import { signEvm } from '../adapters/chains/evm/sign.ts'
import { createMoneroChain } from '../adapters/chains/monero/chain.ts'
import { signMonero } from '../adapters/chains/monero/sign.ts'
import type { CurrencyOverrides, WalletSettings } from '../config/file.ts'
import { assetId } from '../core/domain/asset.ts'
import { type Catalogue, createCatalogue } from '../core/domain/catalogue.ts'
import type { CurrencyDefinition } from '../core/domain/currency.ts'
import { type Environment, exchangeFamilies, type Family, resolveNetwork } from '../core/domain/network.ts'
import type { NodeNote } from '../core/ports/chain.ts'
import type { Chain } from '../exchange/ports/chain.ts'
import type { FamilySigner, PublicKeys } from '../exchange/ports/signer.ts'
import { type NodeEndpoint, urlOf } from '../lib/node-endpoint.ts'

/** The nodes of one network, and the token contracts that the sandbox deployed. */
export type NetworkNodes = Readonly<{
  network: string
  rpcUrls: readonly NodeEndpoint[]
  tokens: Readonly<Record<string, string>>
  /** False where the operator accepts that no node of an EVM network offers traces. */
  traces?: boolean
}>

export const isServed = (family: Family | undefined): boolean => exchangeFamilies.some((served) => served === family)

/** The signing function of each family. */
export function createSigning(environment: Environment): Record<(typeof exchangeFamilies)[number], FamilySigner> {
  return {
    bitcoin: createBitcoinSigning(definitions.map((definition) => resolveNetwork(definition, environment))),
    evm: signEvm,
    monero: signMonero,
  }
}

export type ClosableChain = Chain & {
  close?(): Promise<void>
  /** EVM: whether a node offers traces. */
  hasTraces?(): Promise<boolean>
}

/** Receives notes about reads with reduced certainty. */
export type OnNodeNote = (network: string, note: NodeNote) => void

/** For families whose transactions an external wallet builds (Monero): its folder and the keys it is built from. */
export type Wallets = Readonly<{
  folder: string
  walletKey(coinType: number, hotIndex: number): Uint8Array
  settings?: WalletSettings
}>

const MONERO_COIN = 128

function override(definition: CurrencyDefinition, overrides: CurrencyOverrides): CurrencyDefinition {
  const { rank, feedCode } = overrides.get(assetId(definition.ticker, definition.network)) ?? {}
  return { ...definition, ...(rank === undefined ? {} : { rank }), ...(feedCode === undefined ? {} : { feedCode }) }
}

/** The catalogue of an environment, and a chain per reachable network. `ready` chains replace adapters. */
export function createChains(
  environment: Environment,
  nodes: readonly NetworkNodes[],
  publicKeys: PublicKeys,
  overrides: CurrencyOverrides = new Map(),
  ready: ReadonlyMap<string, ClosableChain> = new Map(),
  wallets: Wallets | null = null,
  onNodeNote: OnNodeNote = () => undefined,
): { catalogue: Catalogue; chains: ReadonlyMap<string, ClosableChain> } {
  // Keystores older than Monero support have no keys for it: create one from the same seed phrase.
  const seesMonero = publicKeys.viewKeys?.(MONERO_COIN) != null
  const reachable = new Map(nodes.map((node) => [node.network, node]))
  const familyOf = new Map(definitions.map(({ id, family }) => [id, family]))
  const catalogue = createCatalogue({
    networks: definitions,
    currencies: currencies.map((definition) => override(definition, overrides)),
    disabled: new Set([...overrides].flatMap(([id, { enabled }]) => (enabled === false ? [id] : []))),
    environment,
    tokens: Object.fromEntries(nodes.map(({ network, tokens }) => [network, tokens])),
    enabled: (id) => reachable.has(id) && isServed(familyOf.get(id)) && (familyOf.get(id) !== 'monero' || seesMonero),
  })
  const chains = new Map<string, ClosableChain>()
  for (const network of catalogue.networks()) {
    const node = reachable.get(network.id)
    if (!node) continue
    const given = ready.get(network.id)
    if (given) {
      chains.set(network.id, given)
      continue
    }
    const options = { network, rpcUrls: node.rpcUrls, publicKeys }
    if (network.family === 'bitcoin') chains.set(network.id, createBitcoinChain(options))
    const viewKeys = network.family === 'monero' ? (publicKeys.viewKeys?.(network.coinType) ?? null) : null
    if (viewKeys !== null) {
      const spending = wallets && {
        seedKey: wallets.walletKey(network.coinType, network.hotIndex),
        folder: join(wallets.folder, network.id),
        ...wallets.settings,
      }
      chains.set(network.id, createMoneroChain({ network, rpcUrls: node.rpcUrls.map(urlOf), viewKeys, spending }))
    }
    if (network.family === 'evm') {
      const contracts = catalogue
        .list()
        .flatMap(({ asset }) => (asset.network === network.id && asset.contract !== null ? [asset.contract] : []))
      const note = (one: NodeNote) => onNodeNote(network.id, one)
      chains.set(
        network.id,
        createEvmChain({ ...options, tokens: contracts, expectsTraces: node.traces ?? true, note }),
      )
    }
  }
  return { catalogue, chains }
}
