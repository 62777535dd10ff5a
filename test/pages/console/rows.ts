import { networks } from '../../../server/networks/index.ts'
import { createAddresses } from '../../../server/src/adapters/chains/bitcoin/address.ts'
import { createEvmAddresses } from '../../../server/src/adapters/chains/evm/address.ts'
import type { ActionDeps } from '../../../server/src/admin/actions/action.ts'
import type { Live } from '../../../server/src/admin/reads/read.ts'
import { defaultSpreads, emptyBook } from '../../../server/src/core/domain/book.ts'
import {
  feesAccount,
  fundingEntry,
  partnerAccount,
  unownedFundingEntry,
} from '../../../server/src/core/domain/ledger/entries.ts'
import { journalEntry } from '../../../server/src/core/domain/ledger/journal.ts'
import { resolveNetwork } from '../../../server/src/core/domain/network.ts'
import { pricesAt } from '../../../server/src/core/domain/price.ts'
import { outputDefaults } from '../../../server/src/exchange/domain/output-plan.ts'
import { seedAdminRows, seededWebhook } from '../../../server/test/adapters/postgres/seed-admin-rows.ts'
import { seedLedgerRows } from '../../../server/test/adapters/postgres/seed-ledger-rows.ts'
import type { AdminServer } from '../../../server/test/admin/admin-server.ts'
import { createPools, parsePoolName } from '../../../server/test/admin/pools.fixture.ts'

/* What the pages of the console show: rows in every list, and markup in every text that a partner or a chain can set. */

/** Two held deposits, two held payouts, and more than a page of most lists. */
const ROWS = 2_000
export const XSS = '<img src=x onerror=alert(1)>'
/** The addresses of the examples of the actions. */
const HOLDER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
/** Set by the partner, and waits. */
const NEXT_HOLDER = `0x${'cd'.repeat(20)}`
const TOKEN = `0x${'ab'.repeat(20)}`
export const KEY_ID = 'Ab12Cd34'

const resolve = (...ids: readonly string[]) =>
  networks.filter(({ id }) => ids.includes(id)).map((one) => resolveNetwork(one, 'production'))

/** The generator of secp256k1 (SEC 2, section 2.4.1) in place of keys. */
const generator = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const generatorY = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'
const publicKeys = {
  publicKey: () => Buffer.from(`02${generator}`, 'hex'),
  uncompressedKey: () => Buffer.from(`04${generator}${generatorY}`, 'hex'),
}

const addressesOfAll = new Map(
  resolve('btc', 'eth', 'base').map((network) => {
    const addresses =
      network.family === 'bitcoin' ? createAddresses(network, publicKeys) : createEvmAddresses(network, publicKeys, [])
    return [network.id, { network, addresses }]
  }),
)

export const deps: Partial<ActionDeps> = {
  coldAddresses: [`eth:${HOLDER}`],
  outputs: outputDefaults,
  addresses: () => addressesOfAll,
  parsePoolName,
}

export const live: Partial<Live> = {
  // Anybody can give a token any name.
  pools: createPools(XSS),
  networks: resolve('btc', 'eth'),
  endpoints: new Map([['btc', ['btc-a.example', 'btc-b.example']]]),
  book: () => ({
    ...emptyBook(defaultSpreads),
    prices: pricesAt(
      Date.now(),
      new Map([
        ['btc', { bid: 64_000_100_000_000_000n, ask: 64_010n * 10n ** 12n }],
        ['eth', { bid: 3_100n * 10n ** 12n, ask: 3_101n * 10n ** 12n }],
      ]),
    ),
    reserves: {
      at: Date.now(),
      available: new Map([
        ['btc@btc', 1_050_000_000n],
        ['eth@eth', null],
      ]),
    },
    pauses: { networks: new Set(), assets: new Set(['eth@eth']) },
  }),
  tokens: () => [
    { address: TOKEN, symbol: XSS, name: `${XSS} token`, decimals: 6, enabled: true },
    { address: HOLDER, symbol: 'OFF', name: 'A token without a pool', decimals: 18, enabled: false },
  ],
  settings: {
    environment: 'production',
    publicUrl: `https://swapyard.example/${XSS}`,
    'limits.perTransactionUsd': 50_000,
  },
}

type Query = AdminServer['test']['database']['query']

/** Rows that every page of the console shows. Returns the id of a held exchange with markup. */
export async function addRows({ test: { database }, store }: AdminServer): Promise<string> {
  const { query } = database
  await seedAdminRows(database, ROWS)
  await seedLedgerRows(database)
  const partner = await addPartners(query)
  const { ledger, alarms } = store.store
  const owed = partnerAccount(partner)
  await ledger.post(
    journalEntry('balance of the partner', 'conversion', null, [
      { debit: 'equity:inventory', credit: owed, assetId: 'eth@eth', units: 7n * 10n ** 17n },
    ]),
  )
  await ledger.post(
    journalEntry('swap fee of the partner', 'swap fee', null, [
      { debit: feesAccount(HOLDER), credit: owed, assetId: `${TOKEN}@base`, units: 12_500_000n },
    ]),
  )
  const tables = ['exchanges', 'deposits', 'deposit_targets', 'payouts', 'transactions', 'swaps', 'operator_acts']
  for (const table of tables) await query(`alter table ${table} disable trigger user`)
  const heldId = await addMarkup(query, partner)
  for (const table of tables) await query(`alter table ${table} enable trigger user`)
  for (const { id, units } of await query<{ id: string; units: string }>(
    'select id, units from deposits where unclaimed',
  ))
    await ledger.post(unownedFundingEntry(id, 1, 'btc@btc', BigInt(units)))
  await ledger.post(fundingEntry('funding', 1, 'btc@btc', 1_000_000_000n))
  await addWallets(query)
  await addService(query)
  await alarms.raise('unclaimed:btc', `coins arrived from ${XSS}`, { sender: XSS })
  await alarms.raise('difference:btc@btc', 'the ledger has more than the chain', { difference: '-7' })
  await alarms.raise('pool-depth:base', `pools of ${XSS} lost depth`, { token: XSS })
  await query('analyze')
  return heldId
}

/** The partner with markup in its name has a key, recipients and a webhook; another one is suspended. */
async function addPartners(query: Query): Promise<string> {
  const [row] = await query<{ id: string }>("update partners set name = $1 where name = 'acme' returning id", [XSS])
  const id = row?.id ?? ''
  await query("update partners set suspended = true where name = 'others'")
  await query(
    "insert into api_keys (id, partner_id, scopes, ip_allow_list, created_by) values ($1, $2, '{exchange:read}', '{192.0.2.0/24}', $3)",
    [KEY_ID, id, XSS],
  )
  await query("insert into key_secrets (key_id, hmac) values ($1, '\\x00')", [KEY_ID])
  await query('insert into default_recipients (partner_id, asset_id, address, memo) values ($1, $2, $3, $4)', [
    ...[id, 'usdt@eth', HOLDER, XSS],
  ])
  await query(
    `insert into fee_addresses (partner_id, network, address, next_address, next_from) values ($1, 'base', $2, null, null),
       ($1, 'eth', null, $3, now() + interval '48 hours')`,
    [id, HOLDER, NEXT_HOLDER],
  )
  await query('update webhooks set url = $1 where id = $2', [`https://acme.example/${XSS}`, seededWebhook])
  await query('update webhook_deliveries set last_error = $1 where webhook_id = $2', [XSS, seededWebhook])
  await query(
    "update webhooks set disabled_by = 'operator' where id = (select id from webhooks order by created_at desc limit 1)",
  )
  return id
}

async function addMarkup(query: Query, partner: string): Promise<string> {
  const [held] = await query<{ id: string }>(
    `update exchanges set external_id = $1, recipient_memo = $1, refund_memo = $1, refund_address = $1, partner_id = $2
     where id = (select exchange_id from executions where status = 'verifying' order by updated_at, id limit 1) returning id`,
    [XSS, partner],
  )
  await query('update deposit_targets set memo = $1 where exchange_id = $2', [XSS, held?.id])
  await query('update deposits set memo = $1, sender = $1 where exchange_id = $2 or unclaimed', [XSS, held?.id])
  // At a hot wallet: it may be claimed as capital.
  await query(
    `insert into deposits (network, identity, tx_hash, address, asset_id, units, block_height, block_hash, required_confirmations, status,
       credited_units, credits, unclaimed, memo) values ('btc', 'stray:0', $1, 'hot', 'btc@btc', 9, 1, 'h', 2, 'credited', 9, 1, true, $1)`,
    [XSS],
  )
  const newest = 'select id from payouts order by created_at desc'
  await query(`update payouts set memo = $1, address = $1 where id in (${newest} limit 3)`, [XSS])
  // A sweep that waits for an operator, and a payout whose transaction is not confirmed.
  await query(
    `update payouts set purpose = 'sweep', attention = 'REVERTED', exchange_id = null, execution_id = null where id = (${newest} limit 1)`,
  )
  await query(`update payouts set state = 'signed' where id = (${newest} offset 2 limit 1)`)
  await query(
    "update transactions set state = 'live' where id in (select transaction_id from payouts where state = 'signed')",
  )
  await query(`update payouts set memo = $1 where state = 'reserved'`, [XSS])
  await query(
    `update swaps set token_in = $1, token_out = $1, fee_asset = $2, fee_units = 1, owes_fee = true, fee_bookings = 1, decimals_out = 6
     where id = (select id from swaps order by created_at desc limit 1)`,
    [XSS, `${TOKEN}@base`],
  )
  await query('update operator_acts set reason = $1, subject = $1 where id = (select max(id) from operator_acts)', [
    XSS,
  ])
  return held?.id ?? ''
}

/** The hot addresses, and outputs that are small and few enough to be merged and to be split. */
async function addWallets(query: Query): Promise<void> {
  for (const [id, { network, addresses }] of addressesOfAll)
    await query("insert into house_addresses (network, address, branch, key_index) values ($1, $2, 'hot', $3)", [
      ...[id, addresses.hot(), network.hotIndex],
    ])
  await query(`insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash)
    select 'btc', repeat('ab', 32) || ':' || n, 'hot', 'hot', 0, 20000000, 1, 'h' from generate_series(1, 3) n`)
}

async function addService(query: Query): Promise<void> {
  await query("insert into pauses (scope, reason, actor) values ('dex:uniswap-v3@base', $1, $1), ($2, $1, $1)", [
    XSS,
    `token:${TOKEN}@base`,
  ])
  await query(
    "insert into rescans (network, next_height, to_height, found, failure, ended_at) values ('eth', 5, 9, 1, $1, null), ('btc', 3, 2, 0, null, now())",
    [XSS],
  )
  await query(
    "insert into pool_snapshots (network, block_height, block_hash, packed) values ('base', 21000000, 'h', '\\x00')",
  )
  await query("insert into fee_searches (network, height) values ('base', 22000000)")
  await query(
    `insert into unclaimed_fees (network, hash, log_index, block_height, ref, sender, token, units, fee_to)
     values ('base', $1, 0, 21000000, $1, $1, $1, 7, $2)`,
    [XSS, HOLDER],
  )
  await query(
    `insert into forgotten_payouts (network, tx_hash, payout_id, asset_id, address, memo, units, released_at, acknowledged_at)
     values ('eth', $1, $1, 'eth@eth', $1, $1, 7, now(), now())`,
    [XSS],
  )
}
