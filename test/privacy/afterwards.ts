import { expect } from 'vitest'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { AppError } from '../../server/src/core/domain/errors.ts'
import { createSweepDeposits } from '../../server/src/exchange/deposits/sweep-deposits.ts'
import { createOperateBalances } from '../../server/src/exchange/operations/operate-balances.ts'
import { createLog } from '../../server/src/lib/log.ts'
import type { Scenario } from '../support/scenario.ts'

/** P2WPKH in virtual bytes, rounded up: an input, and all that is no input of a payment with change. */
const [INPUT_BYTES, REST_BYTES] = [69n, 100n]
/** Together worth more than the wallets hold; each less than what of them is there when a scenario begins. */
const CREDITS = 7
const CREDIT_ETHER = '2'

/** Nothing is hidden by coins that were never touched again: in the end all of them are spent together, and all deposits swept. */
export type Afterwards = Readonly<{ collect(): Promise<void> }>

/**
 * A partner whose balance in each coin is more than the hot wallet holds: taking it out spends all coins of the wallet. The
 * exchanges that fill it run beside the others.
 */
export async function prepareAfterwards(
  scenario: Scenario,
  coins: readonly AssetId[],
  accounts: readonly string[],
): Promise<Afterwards> {
  const order = { fromCurrency: 'eth', fromNetwork: 'eth', fromAmount: CREDIT_ETHER, flow: 'standard' }
  for (const coin of coins)
    for (let n = 0; n < CREDITS; n++) {
      const [toCurrency, toNetwork] = coin.split('@')
      const { status, body } = await scenario.call('POST', '/v1/cross-chain/exchange', {
        ...order,
        toCurrency,
        toNetwork,
      })
      expect(status, JSON.stringify(body)).toBe(201)
      await scenario.deposit(body, CREDIT_ETHER)
    }
  return {
    collect: async () => {
      await Promise.all([
        ...accounts.map((network) => sweepAll(scenario, network)),
        ...coins.map((coin) => spendAll(scenario, coin)),
      ])
      await scenario.invariants()
    },
  }
}

async function spendAll({ app, mine, until, wallet }: Scenario, coin: AssetId): Promise<void> {
  const [ticker, network = ''] = coin.split('@')
  // What has just arrived is deep enough to be spent.
  await mine(network, 3)
  const [partner] = await app.database.query<{ id: string; name: string }>(
    "select id, name from partners where name = 'sandbox'",
  )
  const chain = app.chains.get(network)
  const [coins] = await app.database.query<{ count: string }>(
    'select count(*) from coins where network = $1 and block_height is not null and spent_by is null',
    [network],
  )
  if (!partner || !chain || !coins) throw new Error(`nothing is known of ${ticker}`)
  const { rate } = await chain.reader.feeRate()
  const held = (await app.store.ledger.balances('asset:wallet')).get(coin) ?? 0n
  // Just what the fee of all coins takes: without one of them it would not do.
  const units = held - ((BigInt(coins.count) * INPUT_BYTES + REST_BYTES) * rate) / 1_000n
  const { address } = await wallet(network)
  const { payoutId } = await createOperateBalances(app.store).payOut(
    partner,
    { assetId: coin, network, units, destination: { address, memo: null } },
    `all of ${coin}`,
    { actor: 'the test', reason: 'all coins are spent together' },
  )
  await until(`all of ${coin} is spent together`, async () => {
    const [payout] = await app.database.query<{ state: string }>('select state from payouts where id = $1', [payoutId])
    return payout?.state === 'confirmed'
  })
}

/** As the worker does at leisure, at once: deposits of accounts that are final, and the gas of those of tokens. */
async function sweepAll({ app, mine, until }: Scenario, network: string): Promise<void> {
  const { store, books, catalogue, chains, database } = app
  const chain = chains.get(network)
  if (!chain) throw new Error(`no chain of ${network}`)
  const listed = new Map(catalogue.list().map((currency) => [currency.asset.id, currency]))
  const find = (id: AssetId) => {
    const found = listed.get(id)
    if (!found) throw new Error(`${id} is not listed`)
    return found
  }
  const sweep = createSweepDeposits({
    store,
    books,
    assetById: (id) => find(id).asset,
    priceKeyOf: (id) => find(id).definition.priceKey,
    log: createLog({ level: 'silent', pretty: false }),
  })
  await mine(network, 10)
  await until(`every deposit on ${network} is swept`, async () => {
    // The worker may have planned the same.
    await sweep(chain).catch((error: unknown) => expect((error as AppError).code).toBe('OVERLOADED'))
    const [row] = await database.query<{ left: number }>(
      `select count(*)::int as left from deposits
       where network = $1 and status = 'credited' and swept_by is null and exchange_id is not null`,
      [network],
    )
    return row?.left === 0
  })
}
