import { exchangeAccount, swapFeeEntry } from '../../server/src/core/domain/ledger/entries.ts'
import { btc, eth, usdt } from '../../server/src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, partnerId, startMoneyPath, wbtc } from '../../server/test/exchange/money-path.ts'
import type { Books, NodeBalances } from './holdings.ts'

const FEE_ADDRESS = '0x00000000000000000000000000000000000000fe'
const FEE_TOKEN = '0x00000000000000000000000000000000000000aa'

/**
 * A faultless app on fake chains with coins in every account that has any: two wallets, unswept deposits in ether and in a
 * token, and a referrer fee. One exchange is from bitcoin to ether, one from ether and one from a token to bitcoin.
 */
export async function startCheckedMoneyPath() {
  const path = await startMoneyPath()
  await path.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  const exchange = await path.createExchange()
  path.payDeposit(exchange, COIN / 200n)
  const fromEther = await path.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  path.payDeposit(fromEther, ETHER)
  const fromToken = await path.createExchange({ from: usdt, to: btc, fromUnits: 4_000_000_000n })
  path.payDeposit(fromToken, 4_000_000_000n)
  path.fakes.eth.pay(FEE_ADDRESS, 700n, { contract: FEE_TOKEN })
  await path.mineBlocks(6)
  for (const one of [exchange, fromEther, fromToken])
    if ((await path.readStatus(one)) !== 'finished') throw new Error(`exchange ${one.id} is not finished`)
  const fee = { swapId: 'swap', bookings: 1, partnerId, feeTo: FEE_ADDRESS, units: 700n } as const
  await path.store.ledger.post(swapFeeEntry({ ...fee, assetId: `${FEE_TOKEN}@eth` }))
  const books: Books = {
    database: path.database,
    store: path.store,
    catalogue: { list: () => [btc, eth, usdt, wbtc] },
    chains: path.dependencies.chains,
  }
  const nodes: NodeBalances = {
    outputs: async (_network, addresses) => path.fakes.btc.unspentOf(addresses),
    account: async (_network, address, contract) => path.fakes.eth.balanceOf(address, contract),
  }
  return { ...path, books, nodes, exchange, fromEther, fromToken, account: exchangeAccount(exchange.id) }
}

export { FEE_ADDRESS, FEE_TOKEN }
