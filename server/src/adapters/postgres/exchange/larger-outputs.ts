import type { LargerOutput, OperatorStore } from '../../../exchange/ports/store/operator.ts'
import type { RowOf, Sql } from '../core/database.ts'

/** Of several payments to one key, the wallet holds the largest. `report-duplicates.ts` made the rows. */
const LARGER_OUTPUT = `
select s.id::text as "depositId", s.asset_id as "assetId", s.units, s.credits, s.status = 'credited' as "isCredited",
  s.block_height <= k.height - s.required_confirmations + 1 as "isDeep", c.reserved_by is not null as "isReserved"
from coins c join deposits d on d.id = c.deposit_id join cursors k on k.network = c.network
join deposits s on s.network = c.network and s.unclaimed and s.exchange_id is null and starts_with(s.identity, d.identity || ':')
where c.network = $1 and c.outpoint = $2 and c.quarantined and c.spent_by is null and s.block_height is not null
order by s.units desc limit 1`

export function createLargerOutputStore(
  sql: Sql,
  locking: boolean,
): Pick<OperatorStore, 'findLargerOutput' | 'takeLargerOutput'> {
  return {
    async findLargerOutput(network, outpoint) {
      const [row] = await sql.query<RowOf<LargerOutput, 'units'>>(
        `${LARGER_OUTPUT}${locking ? ' for no key update of s, c' : ''}`,
        [network, outpoint],
      )
      return row ? { ...row, units: BigInt(row.units) } : null
    },
    async takeLargerOutput(network, outpoint, units) {
      await sql.query(
        `update coins c set units = d.units + $3::numeric from deposits d
         where c.network = $1 and c.outpoint = $2 and d.id = c.deposit_id`,
        [network, outpoint, units],
      )
    },
  }
}
