import type { Database } from '../../../src/adapters/postgres/core/database.ts'

/** What is owed in many tokens. Its name is the first of those that are seeded. */
export const OWED_PARTNER = 'partner-0000001'

const TABLES = [
  'partners',
  'api_keys',
  'key_secrets',
  'default_recipients',
  'fee_addresses',
  'unclaimed_fees',
  'balances',
]

/**
 * `count` partners, each with a key, a recipient, a fee address and a monthly payout; as many swap fees without a known partner, tokens
 * in which fees are held, and tokens that are owed to one partner.
 */
export async function seedAccountRows(database: Database, count: number): Promise<void> {
  await database.transaction(
    async (tx) => {
      for (const table of TABLES) await tx.query(`alter table ${table} disable trigger user`)
      await tx.query(
        `with p as (insert into partners (id, name)
             select gen_random_uuid(), 'partner-' || lpad(n::text, 7, '0') from generate_series(1, $1::int) n returning id, name),
           k as (insert into api_keys (id, partner_id, scopes, created_by)
             select 'key-' || name, id, '{exchange:read}', 'a benchmark' from p returning id),
           r as (insert into default_recipients (partner_id, asset_id, address) select id, 'usdt@eth', 'recipient' from p),
           f as (insert into fee_addresses (partner_id, network, address) select id, 'base', 'fees' from p)
         insert into key_secrets (key_id, hmac) select id, '\\x00' from k`,
        [count],
      )
      await tx.query(
        `insert into monthly_payout_settings (partner_id, asset_id, minimum)
         select partner_id, asset_id, 1 from default_recipients where address = 'recipient'`,
      )
      await tx.query(
        `insert into unclaimed_fees (network, hash, log_index, block_height, ref, sender, token, units, fee_to)
         select 'base', 'unclaimed-' || n, 0, n, 'ref', 'sender', 'token', 7, 'fees' from generate_series(1, $1::int) n`,
        [count],
      )
      await tx.query(
        `insert into balances (account, asset_id, units)
         select 'asset:fees:0x' || n % 3, '0x' || lpad(n::text, 8, '0') || '@base', n from generate_series(1, $1::int) n
         union all
         select 'liability:partner:' || p.id, '0x' || lpad(n::text, 8, '0') || '@base', -n
         from generate_series(1, $1::int) n, partners p where p.name = $2`,
        [count, OWED_PARTNER],
      )
      for (const table of TABLES) await tx.query(`alter table ${table} enable trigger user`)
    },
    { statementTimeoutMs: 600_000 },
  )
  await database.query(`analyze ${[...TABLES, 'monthly_payout_settings'].join(', ')}`)
}
