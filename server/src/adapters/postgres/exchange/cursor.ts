import type { BlockRef } from '../../../core/ports/chain.ts'
import { blockOrNull, type Sql } from '../core/database.ts'

type CursorRow = { height: string; hash: string }

/** The newest block of a network's log. Null before a watcher started the log. */
export async function findCursor(sql: Sql, network: string): Promise<BlockRef | null> {
  return toCursor(
    await sql.query<CursorRow>('select height, hash from cursors where network = $1', [network], 'find-cursor'),
  )
}

/** The same, with a lock until the end of the transaction: no block is added to the log or rolled back meanwhile. */
export async function lockCursor(sql: Sql, network: string): Promise<BlockRef | null> {
  return toCursor(
    await sql.query<CursorRow>(
      'select height, hash from cursors where network = $1 for update',
      [network],
      'lock-cursor',
    ),
  )
}

const toCursor = ([row]: readonly CursorRow[]): BlockRef | null => (row ? blockOrNull(row.height, row.hash) : null)

/** The hash of a block of the log. Null if the log does not have the block. */
export async function findBlockHash(sql: Sql, network: string, height: number): Promise<string | null> {
  const [row] = await sql.query<{ hash: string }>(
    'select hash from blocks where network = $1 and height = $2',
    [network, height],
    'find-block-hash',
  )
  return row?.hash ?? null
}
