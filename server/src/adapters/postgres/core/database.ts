import pg from 'pg'
import { AppError } from '../../../core/domain/errors.ts'

/** Something that runs SQL: the pool (one statement each) or a transaction. `numeric` and `int8` come back as text. */
export interface Sql {
  query<Row extends object>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>
}

/** An open transaction. Everything written through it happens together, or not at all. */
export interface Tx extends Sql {
  readonly inTransaction: true
}

export interface Database extends Sql {
  /** Runs `work` in one transaction; serialization failures and deadlocks are run again, at most `ATTEMPTS_MAX` times. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** For the parts that need a pool of their own kind (jobs, LISTEN). */
  readonly pool: pg.Pool
  close(): Promise<void>
}

const ATTEMPTS_MAX = 5
const STATEMENT_MS = 10_000
/** Errors after which the same transaction may simply be run again: serialization_failure, deadlock_detected. */
const RETRIABLE = new Set(['40001', '40P01'])
/**
 * SQLSTATEs in which the database is away, closing or busy, not wrong: connection, insufficient resources, operator
 * intervention, a lock or a statement that took too long, a transaction that was idle for too long.
 */
const AWAY = /^(08|53|57P0|55P03|57014|25P0[34])/

// Times are read as Date, bigints and numerics as text: BigInt(text) in the row translators, nowhere else.
const types = { getTypeParser: pg.types.getTypeParser }

export type DatabaseOptions = Readonly<{
  max: number
  /** Waiting longer than this for a connection is an overload. */
  waitMs?: number
  statementTimeoutMs?: number
  applicationName?: string
  /** Told of errors on idle connections, which have no caller. */
  onIdleError?: (error: Error) => void
}>

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    types,
    connectionTimeoutMillis: options.waitMs ?? 2_000,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_MS,
    // The server's own limit does not help where the server cannot be heard any more.
    query_timeout: (options.statementTimeoutMs ?? STATEMENT_MS) + 2_000,
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
    transaction: (work) => transact(pool, work),
    close: () => pool.end(),
  }
}

async function run<Row extends object>(
  target: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<Row[]> {
  try {
    const config = { text, values: values as unknown[], ...(name === undefined ? {} : { name }) }
    return (await target.query<Row>(config)).rows
  } catch (error) {
    throw translate(error)
  }
}

async function transact<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await connect(pool)
    let broken: Error | undefined
    try {
      await run(client, 'begin')
      const result = await work({ inTransaction: true, query: (text, values, name) => run(client, text, values, name) })
      await run(client, 'commit')
      return result
    } catch (error) {
      // A connection that gave no answer gives none to a rollback: it is closed, and the server takes the transaction back.
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

/** What the driver, and not the server, said of a statement. */
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

/** A database that is away is OVERLOADED (503); what it refuses stays its own error, for the one caller that knows why. */
function translate(error: unknown): unknown {
  if (!isAway(error)) return error
  return new AppError('OVERLOADED', 'the database does not answer now', { cause: error, retryAfterSeconds: 2 })
}

/** Whether an error of the driver says that the database is away or busy, rather than what it thinks of a statement. */
export function isAway(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || AWAY.test(error.code ?? '')
}
