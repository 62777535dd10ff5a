import type { PoolSnapshots } from '../../../swap/ports/pools.ts'
import type { Database } from '../core/database.ts'

type Row = Readonly<{ block_height: string; block_hash: string; packed: Buffer }>

export function createPoolSnapshots(database: Database): PoolSnapshots {
  return {
    async load(network) {
      const [row] = await database.query<Row>(
        'select block_height, block_hash, packed from pool_snapshots where network = $1',
        [network],
      )
      if (row === undefined) return null
      const block = { height: Number(row.block_height), hash: row.block_hash }
      return { network, block, packed: new Uint8Array(row.packed) }
    },
    async save({ network, block, packed }) {
      // Several processes follow the same chain: an older snapshot must not replace a newer one.
      await database.query(
        `insert into pool_snapshots as s (network, block_height, block_hash, packed) values ($1, $2, $3, $4)
         on conflict (network) do update set block_height = excluded.block_height, block_hash = excluded.block_hash,
           packed = excluded.packed, saved_at = clock_timestamp() where s.block_height <= excluded.block_height`,
        [network, block.height, block.hash, Buffer.from(packed)],
      )
    },
  }
}
