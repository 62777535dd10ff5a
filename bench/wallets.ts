import { currencies } from '../server/currencies/index.ts'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { createStore } from '../server/src/adapters/postgres/exchange/store.ts'
import { createEmbeddedPrices } from '../server/src/adapters/prices/embedded.ts'
import type { Asset } from '../server/src/core/domain/asset.ts'
import { toAsset } from '../server/src/core/domain/currency.ts'
import { fundingEntry } from '../server/src/core/domain/ledger/entries.ts'
import { ONE_USD, unitsWorth } from '../server/src/core/domain/price.ts'
import { present } from '../server/src/lib/assert.ts'

/* What the hot wallets hold, on the local chains and in the ledgers, so that every currency of the example is available. */

/** Of each currency of an EVM network, in US dollars. Unpaid promises take a tenth of it at most. */
const FUNDS_USD = 1_000_000_000n
/** Below the reward of a block. */
export const BITCOIN_UNITS = 49n * 10n ** 8n

/** The one output of the Bitcoin wallet. */
export type Coin = Readonly<{ outpoint: string; address: string; height: number; hash: string }>

export type Holding = Readonly<{ asset: Asset; units: bigint }>

export async function listHoldings(networks: readonly string[]): Promise<readonly Holding[]> {
  const { usd } = await createEmbeddedPrices({ now: Date.now, still: true }).read()
  return currencies
    .filter(({ network }) => networks.includes(network))
    .map((definition) => {
      const asset = toAsset(definition, definition.contract)
      if (asset.network === 'btc') return { asset, units: BITCOIN_UNITS }
      const { ask } = present(usd.get(definition.priceKey), `a price of ${definition.priceKey}`)
      return { asset, units: unitsWorth(FUNDS_USD * ONE_USD, asset, ask, 'down') }
    })
}

/** Records the holdings as an operator's capital, and the coin as if a worker had read its block. */
export async function creditWallets(ownerUrl: string, holdings: readonly Holding[], coin: Coin): Promise<void> {
  const database = openDatabase(ownerUrl, { max: 1 })
  try {
    const { ledger, wallets } = createStore(database)
    await wallets.registerAssets(holdings.map(({ asset }) => asset.id))
    for (const { asset, units } of holdings) await ledger.post(fundingEntry(asset.id, 1, asset.id, units))
    await database.query(
      `insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash)
       values ('btc', $1, $2, 'hot', 0, $3, $4, $5)`,
      [coin.outpoint, coin.address, BITCOIN_UNITS, coin.height, coin.hash],
    )
  } finally {
    await database.close()
  }
}
