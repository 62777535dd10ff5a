import { createStore } from '../../server/src/adapters/postgres/exchange/store.ts'
import { createPayeeMacs } from '../../server/src/adapters/signers/payee-macs.ts'
import { createMaxFees } from '../../server/src/app/max-fees.ts'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { accounts, partnerAccount } from '../../server/src/core/domain/ledger/entries.ts'
import { journalEntry } from '../../server/src/core/domain/ledger/journal.ts'
import { createSweepDeposits } from '../../server/src/exchange/deposits/sweep-deposits.ts'
import { createOperateBalances } from '../../server/src/exchange/operations/operate-balances.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { pepper, type Scenario } from '../support/scenario.ts'
import { findCurrency, splitAssetId } from './run-exchanges.ts'

/** P2WPKH in virtual bytes, rounded up: one input, and the rest of a transaction with one payment and change. */
const [INPUT_BYTES, OTHER_BYTES] = [69n, 100n]
/** Spends all UTXOs of each asset together and sweeps all deposits, so that funds that have not moved hide no link. */
export async function consolidateFunds(
  scenario: Scenario,
  utxoAssets: readonly AssetId[],
  accountNetworks: readonly string[],
): Promise<void> {
  await Promise.all([
    ...accountNetworks.map((network) => sweepDeposits(scenario, network)),
    ...utxoAssets.map((asset) => spendAllUtxos(scenario, asset)),
  ])
  await scenario.checkInvariants()
}

/** Payouts until all coins of deposits are spent. */
const PAYOUTS_MAX = 3

/** If the fee rate falls between the count of the UTXOs and the signature, a payout may need fewer: then another one follows. */
async function spendAllUtxos(scenario: Scenario, asset: AssetId): Promise<void> {
  const [, network] = splitAssetId(asset)
  for (let attempt = 1; attempt <= PAYOUTS_MAX; attempt++) {
    await spendUtxos(scenario, asset, attempt)
    const [left] = await scenario.database.query<{ count: number }>(
      "select count(*)::int as count from coins where network = $1 and branch = 'deposit' and spent_by is null",
      [network],
    )
    if (left?.count === 0) return
  }
  throw new Error(`${PAYOUTS_MAX} payouts left UTXOs of ${asset}`)
}

async function spendUtxos(
  { app, database, mine, until, wallet }: Scenario,
  asset: AssetId,
  attempt: number,
): Promise<void> {
  const [, network] = splitAssetId(asset)
  // New UTXOs need confirmations before a payout may spend them.
  await mine(network, 3)
  const [partner] = await database.query<{ id: string; name: string }>(
    "select id, name from partners where name = 'sandbox'",
  )
  const chain = app.chains.get(network)
  const [utxos] = await database.query<{ count: string }>(
    'select count(*) from coins where network = $1 and block_height is not null and spent_by is null',
    [network],
  )
  if (!partner || !chain || !utxos) throw new Error(`no partner, chain or UTXOs for ${asset}`)
  const { rate } = await chain.reader.feeRate()
  const balance = (await app.store.ledger.balances('asset:wallet')).get(asset) ?? 0n
  // The balance less twice the fee for all UTXOs, which is less than the smallest of them: a payout of this amount needs every UTXO,
  // and is covered even if the transactions of other tests double the fee rate before it is signed.
  const units = balance - (2n * (BigInt(utxos.count) * INPUT_BYTES + OTHER_BYTES) * rate) / 1_000n
  // The operator pays out what a partner has, so the partner is given the wallet's capital.
  const credit = partnerAccount(partner.id)
  const given = units + (await app.store.ledger.balance(credit, asset))
  const gift = journalEntry(`test:${asset}:given:${attempt}`, 'given to a partner by the test', null, [
    { debit: accounts.capital, credit, assetId: asset, units: given > 0n ? given : 0n },
  ])
  await app.store.transaction((tx) => tx.ledger.post(gift))
  const { address } = await wallet(network)
  const { payoutId } = await createOperateBalances(app.store, createMaxFees('sandbox')).payOut(
    partner,
    { assetId: asset, network, units, destination: { address, memo: null } },
    `all of ${asset}, ${attempt}`,
    { actor: 'the test', reason: 'spends all UTXOs in one transaction' },
  )
  await until(`the payout of all ${asset} is confirmed`, async () => {
    const [payout] = await database.query<{ state: string }>('select state from payouts where id = $1', [payoutId])
    return payout?.state === 'confirmed'
  })
}

/**
 * Sweeps final deposits of an account network, and funds gas for deposits of tokens. The worker does the same, but later, and
 * waits for a low fee: a sweeper that has just begun takes the current fee for the usual one, and sweeps.
 */
async function sweepDeposits(scenario: Scenario, network: string): Promise<void> {
  const { app, database, mine, until } = scenario
  const { books, chains } = app
  const chain = chains.get(network)
  if (!chain) throw new Error(`no chain of ${network}`)
  const deps = {
    store: createStore(database, createPayeeMacs(pepper)),
    books,
    assetById: (id: AssetId) => findCurrency(scenario, id).asset,
    priceKeyOf: (id: AssetId) => findCurrency(scenario, id).definition.priceKey,
    log: createLog({ level: 'silent', pretty: false }),
  }
  await mine(network, 10)
  await until(`every deposit on ${network} is swept`, async () => {
    await database.query('update sweep_candidates set postponed_until = null where network = $1', [network])
    await createSweepDeposits(deps)(chain).catch(ignoreSameSweep)
    const [row] = await database.query<{ left: number }>(
      `select count(*)::int as left from deposits
       where network = $1 and status = 'credited' and swept_by is null and exchange_id is not null`,
      [network],
    )
    return row?.left === 0
  })
}

/** The worker may have planned the same sweep. */
function ignoreSameSweep(error: unknown): void {
  if (!(error instanceof Error && error.message === 'another sweep has one of the deposits')) throw error
}
