import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { PrivacySettings } from '../../server/src/exchange/settings.ts'
import type { Scenario } from '../support/scenario.ts'
import { consolidateFunds } from './consolidate-funds.ts'
import { separateBankRoles } from './funders.ts'
import type { Movement } from './movements.ts'
import { readInnerAddresses } from './observed-payments.ts'
import { createObserver, type Observer, type PublicRecipient, readHeight, readMovements, toHolder } from './observer.ts'
import { type PublishedRates, readPublishedRates } from './published-rates.ts'
import { type Order, type Pair, runExchanges } from './run-exchanges.ts'

/** A run of exchanges, with everything that the chains and the public quotes show of it. */
export type ObservedRun = Readonly<{
  pairs: readonly Pair[]
  /** All movements from before our wallets were funded. */
  movements: readonly Movement[]
  /** Holders of our hot wallets. */
  wallets: ReadonlySet<string>
  /** The movements, with wallets that one address per network funded. */
  observer: Observer
  rates: PublishedRates
  privacy: PrivacySettings
  innerAddresses: ReadonlyMap<string, PublicRecipient>
}>

/** Assets with UTXO wallets. After the exchanges, one payout spends all UTXOs of each. */
const UTXO_ASSETS: readonly AssetId[] = ['btc@btc', 'ltc@ltc']
/** Account networks. After the exchanges, all deposits on them are swept. */
const ACCOUNT_NETWORKS = ['eth', 'matic']
const NETWORKS = ['btc', 'ltc', ...ACCOUNT_NETWORKS]
/** The native currencies of the networks: tokens are no intermediaries. */
const INTERMEDIARIES = ['btc@btc', 'ltc@ltc', 'eth@eth', 'pol@matic']

/** The heights of all chains. Read before the scenario starts, they lie below the funding of its wallets. */
export async function readHeights(): Promise<ReadonlyMap<string, number>> {
  const heights = new Map<string, number>()
  for (const network of NETWORKS) heights.set(network, await readHeight(network))
  return heights
}

export async function observeExchanges(
  scenario: Scenario,
  orders: readonly Order[],
  since: ReadonlyMap<string, number>,
  privacy: PrivacySettings,
): Promise<ObservedRun> {
  const pairs = await runExchanges(scenario, orders)
  // Quotes need the reserves that the consolidation pays out.
  const rates = await readPublishedRates(scenario, pairs, INTERMEDIARIES)
  await consolidateFunds(scenario, UTXO_ASSETS, ACCOUNT_NETWORKS)
  const movements = await readMovements(since)
  const wallets = new Set(
    NETWORKS.map((network) => {
      const chain = scenario.app.chains.get(network)
      if (!chain) throw new Error(`the scenario has no chain of ${network}`)
      return toHolder({ network, address: chain.addresses.hot() })
    }),
  )
  const observer = createObserver(separateBankRoles(movements, wallets, 'one address per network'))
  const innerAddresses = await readInnerAddresses(scenario)
  return { pairs, movements, wallets, observer, rates, privacy, innerAddresses }
}
