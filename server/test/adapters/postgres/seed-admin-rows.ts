import { randomUUID } from 'node:crypto'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'

/** Statuses of every thousand exchanges; a rare one is at the end of a list in the order of time. */
const STATUS = `case when n % 1000 < 30 then 'pending' when n % 1000 = 30 then 'refunded' when n % 1000 = 31 then 'verifying' else 'finished' end`

const TABLES = [
  ...['exchanges', 'deposits', 'executions', 'orders', 'transactions', 'attempts', 'payouts', 'swaps', 'operator_acts'],
  ...['partner_events', 'webhook_deliveries'],
]

/** Has all deliveries of acme, among them the 30 that wait; the other webhooks have none. */
export const seededWebhook = '01936b2e-7d1c-7a34-9d5e-6c0f3b1a2d4e'

/** Rows of the size of a business, for the plans of lists. Exchange, deposit, execution and payout have the same number. */
export async function seedAdminRows(database: Database, rows: number): Promise<void> {
  const partnerId = randomUUID()
  await database.transaction(
    async (tx) => {
      // Only the plans matter: the rows need not follow from each other.
      for (const table of TABLES) await tx.query(`alter table ${table} disable trigger user`)
      await tx.query("insert into partners (id, name) values ($1, 'acme')", [partnerId])
      await tx.query(
        `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
           to_units, recipient_address, refund_address, external_id, partner_fee_bps, status, created_at, expires_at)
         select gen_random_uuid(), case when n % 100 = 0 then $1::uuid else gen_random_uuid() end, 'standard', 'standard', 'btc', 'btc',
           'eth', 'eth', $2, n % 1000 + 1, 1, 'recipient-' || n, case when n % 2 = 0 then 'refund-shared' else 'refund-' || n end,
           'own-' || n, 0, ${STATUS}, now() - (n / 20) * interval '1 minute', now()
         from generate_series(1, $3::int) n`,
        [partnerId, JSON.stringify([{ from: btc.asset, to: btc.asset }]), rows],
      )
      await tx.query(`insert into deposit_targets (exchange_id, leg, network, address, memo, key_index)
        select id, 0, 'btc', 'address-' || substr(recipient_address, 11), '', substr(recipient_address, 11)::bigint from exchanges`)
      await tx.query(`insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height,
          block_hash, required_confirmations, status, credited_units, credits, unclaimed)
        select 'btc', key_index || ':0', 'deposit-' || key_index, exchange_id, 0, address, key_index, 'btc@btc',
          case when key_index = 9 then 777777 else 5 end, key_index, 'h', 2,
          'credited', 5, 1, key_index % 2000 = 0 from deposit_targets`)
      await tx.query(`insert into executions (id, exchange_id, deposit_id, leg, payin_hash, order_id, status)
        select gen_random_uuid(), d.exchange_id, d.id, 0, d.tx_hash, 'order-' || d.key_index, case when e.status = 'pending' then 'failed' else e.status end
        from deposits d join exchanges e on e.id = d.exchange_id`)
      await tx.query(`insert into orders (id, execution_id, venue, give_asset, give_units, take_asset, take_units, state)
        select order_id, id, 'inventory', 'btc@btc', 5, 'eth@eth', 7, 'filled' from executions`)
      await tx.query(`insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources, state)
        select gen_random_uuid(), 'eth', 'hot', 'hot', 0, key_index, '{}', 'final' from deposits`)
      await tx.query(`insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units, state, block_height, block_hash)
        select id, conflict_key, 'eth', 'payout-' || conflict_key, 'raw', '{}', 1, 'confirmed', conflict_key::bigint, 'h' from transactions`)
      await tx.query(`insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, address, units, state,
          transaction_id, attention, created_at)
        select gen_random_uuid(), x.exchange_id, x.id, x.deposit_id, 0, 'payout', 'eth', 'eth@eth', 'r', 1,
          case when d.key_index % 1000 < 2 then 'reserved' else 'confirmed' end, case when d.key_index % 1000 < 2 then null else t.id end,
          case when d.key_index % 1000 = 1 then 'PAYEE' end, now() - d.key_index * interval '1 second'
        from executions x join deposits d on d.id = x.deposit_id join transactions t on t.conflict_key = d.key_index::text`)
      await tx.query(
        `insert into swaps (id, partner_id, network, hash, status, reason, token_in, decimals_in, units_in, token_out, decimals_out,
           expected_units, min_units, received_units, sender, recipient, fee_ppm, owes_fee, expires_by, block_height, block_hash, created_at)
         select gen_random_uuid(), case when n % 1000 = 0 then $1::uuid else gen_random_uuid() end, 'base', 'swap-' || n,
           case when n % 5000 = 0 then 'failed' else 'finished' end, case when n % 5000 = 0 then 'reverted' end, 'a', 18, 1, 'b', 18, 1, 1, 1,
           's', 'r', 0, false, 'never', 1, 'h', now() - n * interval '1 second' from generate_series(1, $2::int) n`,
        [partnerId, rows],
      )
      await tx.query(
        `insert into operator_acts (id, at, actor, act, subject, reason, previous, hash)
         select n, now(), case when n = 3 then 'operator:rare' else 'anna' end, 'pause', case when n = 3 then 'rare' else 'all' end, 'a test',
           '\\x00', '\\x00' from generate_series(1, $1::int) n`,
        [rows],
      )
      await tx.query(`insert into partners (id, name) values (gen_random_uuid(), 'others') on conflict do nothing`)
      await tx.query(
        `insert into webhooks (id, partner_id, url, events, secret, created_at)
         select case when n = 100 then $2::uuid else gen_random_uuid() end, (select id from partners
           where name = case when n % 100 = 0 then 'acme' else 'others' end), 'https://partner.example/', '{}', '\\x00',
           now() - n * interval '1 minute' from generate_series(1, greatest($1::int / 10, 100)) n`,
        [rows, seededWebhook],
      )
      await tx.query(
        `with e as (insert into partner_events (partner_id, kind, subject_id, type, position, body)
           select $1, 'exchange', gen_random_uuid(), 'exchange.finished', n, '{}' from generate_series(1, $2::int) n
           returning id, subject_id, position)
         insert into webhook_deliveries (webhook_id, event_id, subject_id, state, delivered_at, next_attempt_at, last_error)
         select $3, id, subject_id, case when position <= 30 then 'pending' else 'delivered' end,
           case when position > 30 then now() end, case when position <= 30 then now() end,
           case when position = 10 then 'status 500' end from e`,
        [partnerId, rows, seededWebhook],
      )
      await tx.query("insert into cursors (network, height, hash) values ('btc', 1000000, 'h'), ('eth', 1000000, 'h')")
      for (const table of TABLES) await tx.query(`alter table ${table} enable trigger user`)
    },
    { statementTimeoutMs: 600_000 },
  )
  await database.query('analyze')
}
