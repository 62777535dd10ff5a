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
    received: async (network, { txHash, address, contract }) =>
      path.fakes[network === 'btc' ? 'btc' : 'eth']
        .listPayments(address)
        .filter((one) => one.txHash === txHash && one.contract === contract)
        .reduce((sum, { units }) => sum + units, 0n),
  }
  /** The addresses that the creates returned. */
  const listAddresses = (network: string) =>
    [exchange, fromEther, fromToken]
      .filter(({ legs: [first] }) => first?.from.network === network)
      .map(({ deposit }) => deposit.address)
  /** Sweeps the token. Its address is supplied with gas first, which then costs less than was supplied. */
  const sweepToken = async () => {
    await path.mineBlocks(12)
    await path.services.sweep(path.fakes.eth.chain)
    await path.mineBlocks(4)
    path.fakes.eth.behaviour.feeRate = 4n
    await path.services.sweep(path.fakes.eth.chain)
    await path.mineBlocks(4)
  }
  return {
    ...path,
    books,
    nodes,
    listAddresses,
    sweepToken,
    exchange,
    fromEther,
    fromToken,
    account: exchangeAccount(exchange.id),
  }
}

export { FEE_ADDRESS, FEE_TOKEN }
