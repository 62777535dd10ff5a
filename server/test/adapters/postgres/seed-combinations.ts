import { randomUUID } from 'node:crypto'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'

/** Has `large` exchanges and swaps, none of them failed. */
export const LARGE_PARTNER = 'large'
/** Of exchanges that are older than all others: a currency that was delisted. */
export const OLD_CURRENCY = { currency: 'ltc', network: 'ltc' } as const
/** What the exchanges of the large partner order. */
export const LARGE_UNITS = 77_777n
const OLD_UNITS = 88_888n
/** The large partner has these in the old currency, the oldest of its exchanges. */
export const OF_BOTH = 3

const TABLES = ['exchanges', 'swaps', 'operator_acts']

/**
 * Rows by which each filter finds many and two filters together few or none: a large partner beside failed exchanges and swaps of
 * others, an old currency, and acts of one actor beside those about another subject. To `seedAdminRows`.
 */
export async function seedCombinations(
  database: Database,
  { large, others }: Readonly<{ large: number; others: number }>,
): Promise<void> {
  const partnerId = randomUUID()
  await database.transaction(
    async (tx) => {
      for (const table of TABLES) await tx.query(`alter table ${table} disable trigger user`)
      await tx.query('insert into partners (id, name) values ($1, $2)', [partnerId, LARGE_PARTNER])
      const add = (count: number, partner: string, currency: string, status: string, units: bigint, age: string) =>
        tx.query(
          `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
             to_units, recipient_address, partner_fee_bps, status, created_at, expires_at)
           select gen_random_uuid(), ${partner}, 'standard', 'standard', $1, $1, 'eth', 'eth', $2, $3::numeric, 1, 'large-' || n, 0, $4,
             now() - ${age}, now() from generate_series(1, $5::int) n`,
          [currency, JSON.stringify([{ from: btc.asset, to: btc.asset }]), units, status, count],
        )
      const ofLarge = `'${partnerId}'::uuid`
      const ofOthers = 'gen_random_uuid()'
      await add(large, ofLarge, 'btc', 'finished', LARGE_UNITS, "interval '2 days' - n * interval '1 second'")
      await add(others, ofOthers, 'btc', 'failed', LARGE_UNITS, "interval '2 days' - n * interval '5 seconds'")
      await add(
        others,
        ofOthers,
        OLD_CURRENCY.currency,
        'finished',
        OLD_UNITS,
        "interval '300 days' - n * interval '1 second'",
      )
      await add(
        OF_BOTH,
        ofLarge,
        OLD_CURRENCY.currency,
        'finished',
        OLD_UNITS,
        "interval '400 days' - n * interval '1 second'",
      )
      for (const [count, partner, status, reason] of [
        [large, ofLarge, 'finished', null],
        [others, ofOthers, 'failed', 'reverted'],
      ] as const)
        await tx.query(
          `insert into swaps (id, partner_id, network, hash, status, reason, token_in, decimals_in, units_in, token_out, decimals_out,
             expected_units, min_units, received_units, sender, recipient, fee_ppm, owes_fee, expires_by, block_height, block_hash, created_at)
           select gen_random_uuid(), ${partner}, 'base', $1 || '-swap-' || n, $1, $2, 'a', 18, 1, 'b', 18, 1, 1, 1, 's', 'r', 0, false,
             'never', 1, 'h', now() - interval '2 days' - n * interval '1 second' from generate_series(1, $3::int) n`,
          [status, reason, count],
        )
      for (const [count, actor, subject] of [
        [large, 'a-busy-actor', 'all'],
        [others, 'anna', 'a-busy-subject'],
      ] as const)
        await tx.query(
          `insert into operator_acts (id, at, actor, act, subject, reason, previous, hash)
           select (select coalesce(max(id), 0) from operator_acts) + n, now(), $1, 'pause', $2, 'a test', '\\x00', '\\x00'
           from generate_series(1, $3::int) n`,
          [actor, subject, count],
        )
      for (const table of TABLES) await tx.query(`alter table ${table} enable trigger user`)
    },
    { statementTimeoutMs: 600_000 },
  )
  await database.query('analyze exchanges, swaps, operator_acts, partners')
}
