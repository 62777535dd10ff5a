import type { Sql } from '../core/database.ts'

/** A key that was given out: what a wallet program needs to find its coins without this database. */
type KeyIndex = Readonly<{
  network: string
  branch: 'deposit' | 'hot' | 'change'
  index: number
  address: string
}>

type Row = Omit<KeyIndex, 'index'> & { index: string }
const PAGE = 1_000

/** Hot and change addresses, then deposit addresses, a page at a time. `onlyPaid`: deposit addresses that a deposit has reached. */
export async function* listKeyIndexes(sql: Sql, onlyPaid: boolean): AsyncGenerator<KeyIndex> {
  let last = { network: '', address: '' }
  for (;;) {
    const rows = await sql.query<Row>(
      `select network, branch, key_index as index, address from house_addresses
       where (network, address) > ($1, $2) order by network, address limit $3`,
      [last.network, last.address, PAGE],
    )
    yield* rows.map(toKeyIndex)
    last = rows.at(-1) ?? last
    if (rows.length < PAGE) break
  }
  let after = { exchangeId: '00000000-0000-0000-0000-000000000000', leg: 0, nth: 0 }
  for (;;) {
    const rows = await sql.query<Row & typeof after>(
      `select network, 'deposit' as branch, key_index as index, address, exchange_id as "exchangeId", leg, nth
       from deposit_targets t where (exchange_id, leg, nth) > ($1, $2, $3)
         and (not $4 or exists (select 1 from deposits d where d.exchange_id = t.exchange_id and d.address = t.address))
       order by exchange_id, leg, nth limit $5`,
      [after.exchangeId, after.leg, after.nth, onlyPaid, PAGE],
    )
    yield* rows.map(toKeyIndex)
    after = rows.at(-1) ?? after
    if (rows.length < PAGE) break
  }
}

const toKeyIndex = ({ network, branch, index, address }: Row): KeyIndex => ({
  network,
  branch,
  index: Number(index),
  address,
})
