import { concatHex, encodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { deployer, planContract, planDeployment } from '../../src/evm/deployments.ts'
import { evmBankAddress } from '../../src/keys.ts'
import type { Address } from '../../src/market/snapshot.ts'
import { type MarketToken, marketTokens } from '../../src/market/tokens.ts'
import { priceOf } from '../../src/prices.ts'
import { compile } from '../compile.ts'
import type { FreshChain, TransactionRequest } from './fresh-chain.ts'

/** US dollars of each token that the trader gets: a thousand times the liquidity of all pools of a network. */
const traderDollars = 10n ** 11n

const abi = parseAbi(['function mint(address to, uint256 amount)'])

/** Deploys the network's tokens and mints the trader's balances. Returns the addresses by ticker. */
export async function deployMarketTokens(
  chain: FreshChain,
  network: string,
  { owner, trader }: { owner: Address; trader: Address },
): Promise<Record<string, Address>> {
  const bank = evmBankAddress()
  const plans = marketTokens(network).map((token) => ({ token, ...planToken(network, token, bank) }))
  await chain.runTransactions(plans.map(({ data }) => ({ from: owner, to: deployer, data, gas: 3_000_000n })))
  await chain.runTransactions(
    plans.map(({ token, address }): TransactionRequest => {
      const amount = toUnits(token.ticker, token.decimals, traderDollars)
      const data = encodeFunctionData({ abi, functionName: 'mint', args: [trader, amount] })
      return { from: bank, to: address, data, gas: 200_000n }
    }),
  )
  return Object.fromEntries(plans.map(({ token, address }) => [token.ticker, address.toLowerCase() as Address]))
}

/** Converts US dollars to base units at the base price. */
export const toUnits = (key: string, decimals: number, dollars: bigint): bigint =>
  (dollars * 10n ** 12n * 10n ** BigInt(decimals)) / priceOf(key, null)

function planToken(network: string, token: MarketToken, bank: Hex): { address: Hex; data: Hex } {
  const { ticker, symbol, name, decimals, kind } = token
  if (kind !== 'fee-on-transfer') return planDeployment({ network, ticker, symbol, name, decimals, kind }, bank)
  const parameters = encodeAbiParameters(
    [{ type: 'string' }, { type: 'string' }, { type: 'address' }],
    [name, symbol, bank],
  )
  return planContract(network, ticker, concatHex([compile(['LevyToken']).LevyToken.creation, parameters]))
}
