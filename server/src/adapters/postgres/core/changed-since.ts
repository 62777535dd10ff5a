/*
 * The poll cache asks the database what changed since it last asked: by transaction numbers, in one statement and so by one
 * snapshot (decision 0072). These are the parts of that query.
 */

/** Every transaction below it has ended: what a later snapshot sees beside this one's is not below it. */
export const OLDEST_RUNNING = 'pg_snapshot_xmin(pg_current_snapshot())::text'

/**
 * Tables as they are: others after a restart or failover of the server, after a restore into them, after a truncation. Then
 * transaction numbers may have restarted.
 */
export const tableGeneration = (...tables: readonly string[]): string =>
  `concat_ws(' ', pg_postmaster_start_time(), ${tables
    .map((table) => `'${table}'::regclass::oid, pg_relation_filenode('${table}')`)
    .join(', ')})`
