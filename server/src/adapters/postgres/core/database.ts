import pg from 'pg'
import { AppError } from '../../../core/domain/errors.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'

/**
 * Runs SQL: the pool (each statement on its own) or a transaction. Returns `numeric` and `int8` as text. A statement with a name is
 * prepared once per connection, because the server plans some joins longer than it executes them. Each name has one text.
 */
export interface Sql {
  query<Row extends object>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>
}

/** An open transaction: commits all of its writes or none. */
export interface Tx extends Sql {
  readonly inTransaction: true
}

export interface Database extends Sql {
  /**
   * Runs `work` in one transaction. Repeats it after a serialization failure or deadlock, up to `ATTEMPTS_MAX` runs.
   * `statementTimeoutMs` replaces the limit of each statement, for reads of whole tables and migrations.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: { statementTimeoutMs: number }): Promise<T>
  /** For the job queue, which needs the pool itself. */
  readonly pool: pg.Pool
  close(): Promise<void>
}

const ATTEMPTS_MAX = 5
const STATEMENT_MS = 10_000
/**
 * Longer than the pauses between the periodic jobs: opening a connection costs the server as much as many statements, and the
 * first request after a pause would wait for it.
 */
const IDLE_MS = 120_000
/** The driver waits this much longer than the server: the server's own limit has no effect after the network to it failed. */
const DRIVER_EXTRA_MS = 2_000
/** Errors after which the same transaction can be repeated: serialization_failure, deadlock_detected. */
const RETRIABLE = new Set(['40001', '40P01'])
/**
 * SQLSTATEs that say that the database is unavailable or busy: connection, insufficient resources, operator intervention,
 * timeout of a lock or statement, timeout of an idle transaction.
 */
const UNAVAILABLE = /^(08|53|57P0|55P03|57014|25P0[34])/

// Times arrive as Date, bigints and numerics as text; only the functions that read rows convert them with BigInt(text).
const types = { getTypeParser: pg.types.getTypeParser }

/** A row with the fields of `T`. Its `numeric` and `int8` columns `K` are text. */
export type RowOf<T, K extends keyof T> = Omit<T, K> & Readonly<Record<K, string>>

export const unitsOrNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text))
/** Columns store no memo as an empty text. */
export const memoOrNull = (text: string): string | null => (text === '' ? null : text)
export const blockOrNull = (height: string | null, hash: string | null): BlockRef | null =>
  height === null || hash === null ? null : { height: Number(height), hash }

/** Whether the statement returns a row, because it found or changed one. */
export async function hasRow(sql: Sql, text: string, values: readonly unknown[], name?: string): Promise<boolean> {
  return (await sql.query(text, values, name)).length > 0
}

export type DatabaseOptions = Readonly<{
  max: number
  /** Maximum wait for a connection; then the request fails with OVERLOADED. */
  waitMs?: number
  statementTimeoutMs?: number
  applicationName?: string
  /** Receives errors of idle connections, which no caller awaits. */
  onIdleError?: (error: Error) => void
}>

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    types,
    connectionTimeoutMillis: options.waitMs ?? 2_000,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_MS,
    query_timeout: (options.statementTimeoutMs ?? STATEMENT_MS) + DRIVER_EXTRA_MS,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: 15_000,
    application_name: options.applicationName ?? 'swapyard',
    keepAlive: true,
  })
  const onIdleError = (error: Error) => options.onIdleError?.(error)
  pool.on('error', onIdleError)
  // A client that breaks while it is checked out has no other listener.
  pool.on('connect', (client) => client.on('error', onIdleError))
  return {
    pool,
    query: (text, values, name) => run(pool, text, values, name),
    transaction: (work, transactionOptions) => transact(pool, work, transactionOptions?.statementTimeoutMs ?? null),
    close: () => pool.end(),
  }
}

async function run<Row extends object>(
  target: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
  timeoutMs: number | null = null,
): Promise<Row[]> {
  try {
    const config = {
      text,
      values: values as unknown[],
      ...(name === undefined ? {} : { name }),
      ...(timeoutMs === null ? {} : { query_timeout: timeoutMs + DRIVER_EXTRA_MS }),
    }
    return (await target.query<Row>(config)).rows
  } catch (error) {
    throw translate(error)
  }
}

async function transact<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>, timeoutMs: number | null): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await connect(pool)
    let broken: Error | undefined
    try {
      await run(client, 'begin')
      if (timeoutMs !== null) await run(client, `set local statement_timeout = ${timeoutMs}`)
      const result = await work({
        inTransaction: true,
        query: (text, values, name) => run(client, text, values, name, timeoutMs),
      })
      await run(client, 'commit')
      return result
    } catch (error) {
      // A connection that did not answer will not answer a rollback either. It is closed, and the server rolls back.
      broken = lostConnection(error) ?? undefined
      if (!broken)
        await client.query('rollback').catch((cause: Error) => {
          broken = cause
        })
      if (!RETRIABLE.has(sqlState(error)) || attempt >= ATTEMPTS_MAX) throw error
    } finally {
      client.release(broken)
    }
  }
}

/** The error if the driver raised it, not the server. */
function lostConnection(error: unknown): Error | null {
  const cause = error instanceof AppError && error.code === 'OVERLOADED' ? error.cause : null
  return cause instanceof Error && !(cause instanceof pg.DatabaseError) ? cause : null
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translate(error)
  }
}

/** The SQLSTATE of a database error, '' for any other. */
export function sqlState(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
}

/** An unavailable database is OVERLOADED (503). Other errors of the server stay as they are, for the caller to handle. */
function translate(error: unknown): unknown {
  if (!isUnavailable(error)) return error
  return new AppError('OVERLOADED', 'the database does not answer now', { cause: error, retryAfterSeconds: 2 })
}

/** True if the database is unavailable or busy; false if it rejected the statement. */
export function isUnavailable(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || UNAVAILABLE.test(error.code ?? '')
}
