import { type BloomFilter, createBloomFilter } from '../../../lib/bloom-filter.ts'
import { generationOf, LEAST_RUNNING } from '../core/changed-since.ts'
import type { Sql } from '../core/database.ts'

/**
 * Which of a block's addresses can be deposit addresses: nearly all are not, and a search in the table for each of them
 * costs more the larger the table is. So each process keeps them in memory as Bloom filters, 2 MB a million, one a
 * network. Nobody is left out (decision 0062).
 */
export type WatchedAddresses = Readonly<{
  /** Those that may be ours, in their order: all of ours that are committed by now, and very few others. In a transaction. */
  among(tx: Sql, network: string, addresses: readonly string[]): Promise<readonly string[]>
}>

/** `since`: every transaction before it had ended when the filter was last brought up to date. */
type Known = Readonly<{ filter: BloomFilter; table: string; since: string }>

/** Rows of one read of a first load. */
const PIECE = 20_000

export function createWatchedAddresses(): WatchedAddresses {
  const networks = new Map<string, Known>()
  return {
    among: async (tx, network, addresses) => {
      if (addresses.length === 0) return []
      const before = networks.get(network)
      const known = (before && (await renewed(tx, network, before))) ?? (await load(tx, network))
      networks.set(network, known)
      return known.filter.among(addresses)
    },
  }
}

const TABLE = generationOf('deposit_targets')

/**
 * Adds what was committed since, in one statement and so by one snapshot. A row that it sees and the last one did not is
 * of a transaction that had not ended then: not below that one's xmin. Rows of a restored dump may carry numbers of
 * another server's future; they were all there at the first load. Null where the table is another one.
 */
async function renewed(tx: Sql, network: string, { filter, table, since }: Known): Promise<Known | null> {
  const [row] = await tx.query<{ table: string; since: string; addresses: string[] }>(
    `select ${TABLE} as table, ${LEAST_RUNNING} as since,
       array(select address from deposit_targets where network = $1 and created_by >= $2::xid8
         and created_by < pg_snapshot_xmax(pg_current_snapshot())) as addresses`,
    [network, since],
    'watched-since',
  )
  if (row?.table !== table) return null
  filter.add(row.addresses)
  return { filter, table, since: row.since }
}

/** All of them, in pieces. The mark is of an earlier snapshot than the rows: what both have is added twice. */
async function load(tx: Sql, network: string): Promise<Known> {
  const [mark] = await tx.query<{ table: string; since: string; count: number }>(
    `select ${TABLE} as table, ${LEAST_RUNNING} as since,
       (select count(*)::int from deposit_targets where network = $1) as count`,
    [network],
  )
  const filter = createBloomFilter(2 * (mark?.count ?? 0))
  await tx.query('declare watched_addresses cursor for select address from deposit_targets where network = $1', [
    network,
  ])
  for (let size = PIECE; size === PIECE; ) {
    const rows = await tx.query<{ address: string }>(`fetch ${PIECE} from watched_addresses`)
    filter.add(rows.map(({ address }) => address))
    size = rows.length
  }
  await tx.query('close watched_addresses')
  return { filter, table: mark?.table ?? '', since: mark?.since ?? '0' }
}
