import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

const ALARM = 'a second output was paid to a one-time key of ours: only one of the two can be spent'

/**
 * Another transaction with the same identity: two Monero outputs with one key, only one of them can be spent (D41). The wallet
 * program keeps the larger. If that is not the recorded one, no payout spends it until an operator releases it: what it brings
 * in addition is in no account.
 */
export async function reportDuplicates(sql: Sql, network: string, duplicates: readonly Transfer[]): Promise<void> {
  for (const { identity, txHash, units } of duplicates) {
    const [larger] = await sql.query<{ outpoint: string }>(
      `update coins c set quarantined = true from deposits d
       where d.network = $1 and d.identity = $2 and d.units < $3 and c.network = $1 and c.deposit_id = d.id and c.spent_by is null
       returning c.outpoint`,
      [network, identity, units],
    )
    const next = larger && {
      quarantined: larger.outpoint,
      next: `swapyard payouts release-input ${network} <outpoint>`,
    }
    await sql.query(
      `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
       on conflict (subject) do update set seen_at = clock_timestamp()`,
      [`burnt:${network}:${txHash}:${identity}`, ALARM, JSON.stringify({ txHash, units: units.toString(), ...next })],
    )
  }
}
