import { writeFileSync } from 'node:fs'
import { createEmbeddedPrices } from '../server/src/adapters/prices/embedded.ts'
import { formatUnits } from '../server/src/core/domain/amount.ts'
import { USD_DECIMALS } from '../server/src/core/domain/price.ts'
import { hex } from '../server/test/adapters/chains/evm/anvil.ts'
import { FIRST_BLOCKS, type LocalNetwork, localizeExample, startLocalNetworks } from '../test/starts/local-networks.ts'
import { mintToken, placeMainnetMarket, placeToken, USDC } from '../test/starts/mainnet-contracts.ts'
import { serveDocuments } from '../test/starts/price-documents.ts'
import { readSettings, serve } from './processes.ts'
import { BITCOIN_UNITS, type Coin, listHoldings } from './wallets.ts'

/*
 * What an operator has outside the program: a node of each network of the documented example of production, and three price sources. The
 * blocks come at the pace of the main networks, and are empty.
 */

/** `hot`: the addresses of the hot wallets by network. `file`: where what the program needs is written, as `Nodes`. */
export type NodesSettings = Readonly<{ file: string; hot: Readonly<Record<string, string>> }>
/** `config`: the example with the URLs of the nodes and price sources. */
export type Nodes = Readonly<{ config: Readonly<Record<string, unknown>>; networks: readonly string[]; coin: Coin }>

const BLOCK_SECONDS: Readonly<Record<LocalNetwork, number>> = { eth: 12, bsc: 1, base: 2 }
const BITCOIN_BLOCK_MS = 600_000
/** More than Bitcoin needs for finality. */
const FINAL_BITCOIN_BLOCKS = 50
const DOLLARS_PER_ETHER = 3_420n
/** The sources differ by less than the quorum tolerates. */
const PRICE_SOURCES = 3

const { file, hot } = readSettings<NodesSettings>()
const locals = await startLocalNetworks()
const prices = await servePrices()
const coin = await payBitcoin(hot['btc'] ?? '')
await placeMainnetMarket(locals.chains.eth.anvil, DOLLARS_PER_ETHER)
for (const network of Object.keys(BLOCK_SECONDS) as LocalNetwork[]) await fundWallet(network)
const blocks = setInterval(() => void locals.bitcoin.mine(1), BITCOIN_BLOCK_MS)
const networks = ['btc', ...Object.keys(BLOCK_SECONDS)]
writeFileSync(file, JSON.stringify({ config: localizeExample(locals, prices.urls), networks, coin } satisfies Nodes))
serve({}, async () => {
  clearInterval(blocks)
  await Promise.all([locals.stop(), prices.stop()])
})

/** The prices of the sandbox, which move every second, as documents of the form that docs/settings.md states. */
function servePrices() {
  const embedded = createEmbeddedPrices({ now: Date.now, still: false })
  const render = async () => {
    const { usd } = await embedded.read()
    const text = (units: bigint) => formatUnits(units, USD_DECIMALS)
    return {
      at: Date.now(),
      usd: Object.fromEntries([...usd].map(([key, { bid, ask }]) => [key, { bid: text(bid), ask: text(ask) }])),
    }
  }
  return serveDocuments(Array.from({ length: PRICE_SOURCES }, () => render))
}

async function payBitcoin(address: string): Promise<Coin> {
  const txHash = await locals.bitcoin.pay(address, BITCOIN_UNITS)
  const { height, hash } = await locals.bitcoin.head()
  await locals.bitcoin.mine(FINAL_BITCOIN_BLOCKS)
  return { outpoint: `${txHash}:0`, address, height, hash }
}

/** Gives the hot wallet its holdings, and starts the clock of the network. */
async function fundWallet(network: LocalNetwork): Promise<void> {
  const { anvil } = locals.chains[network]
  const owner = hot[network] ?? ''
  for (const { asset, units } of await listHoldings([network])) {
    if (asset.contract === null) await anvil.request('anvil_setBalance', [owner, hex(units)])
    else {
      if (asset.contract !== USDC) await placeToken(anvil, asset.contract, asset.ticker, asset.decimals)
      await mintToken(anvil, asset.contract, owner, units)
    }
  }
  // A worker begins some blocks below the head. It must not find these payments again.
  await anvil.mine(FIRST_BLOCKS)
  await anvil.request('evm_setIntervalMining', [BLOCK_SECONDS[network]])
}
