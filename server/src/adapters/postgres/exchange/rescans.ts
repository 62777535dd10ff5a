import type { Rescan, RescanStore } from '../../../exchange/ports/store/rescans.ts'
import type { Sql } from '../core/database.ts'

const COLUMNS = `id::text, network, next_height::float8 as "nextHeight", to_height::float8 as "toHeight", found, failure,
  ended_at is not null as "hasEnded"`

export function createRescanStore(sql: Sql): RescanStore {
  const findFirst = async (text: string, values: readonly unknown[]) =>
    (await sql.query<Rescan>(text, values))[0] ?? null
  return {
    begin: (network, from, to) =>
      findFirst(
        `insert into rescans (network, next_height, to_height) values ($1, $2, $3)
         on conflict (network) where ended_at is null do nothing returning ${COLUMNS}`,
        [network, from, to],
      ),
    find: (id) => findFirst(`select ${COLUMNS} from rescans where id = $1`, [id]),
    findOpen: (network) =>
      findFirst(`select ${COLUMNS} from rescans where network = $1 and ended_at is null`, [network]),
    async recordBlock(id, height, found) {
      await sql.query(
        `update rescans set next_height = $2::bigint + 1, found = found + $3, failures = 0, failure = null,
           ended_at = case when $2::bigint >= to_height then clock_timestamp() end
         where id = $1 and next_height = $2::bigint and ended_at is null`,
        [id, height, found],
      )
    },
    async recordFailure(id, failure, failuresMax) {
      await sql.query(
        `update rescans set failures = failures + 1, failure = $2,
           ended_at = case when failures + 1 >= $3 then clock_timestamp() end
         where id = $1 and ended_at is null`,
        [id, failure, failuresMax],
      )
    },
  }
}
