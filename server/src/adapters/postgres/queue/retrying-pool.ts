import type pg from 'pg'
import { isUnavailable } from '../core/database.ts'

/** SQLSTATE cannot_connect_now: the error of an unavailable database after which graphile-worker retries. */
const CANNOT_CONNECT_NOW = '57P03'

/**
 * The pool for graphile-worker. Version 0.18.0 records the end of a job without awaiting the query. If the connection is
 * lost and the error has no code that it retries, the unhandled rejection ends the process. With this code it retries until
 * the database is available.
 */
export function createRetryingPool(pool: pg.Pool): pg.Pool {
  const connect = async () => createRetryingClient(await pool.connect().catch(rethrow))
  return new Proxy(pool, {
    get: (target, name) => {
      // Only the listener passes a callback; it reconnects without help.
      if (name === 'connect')
        return (callback?: Parameters<pg.Pool['connect']>[0]) => (callback ? target.connect(callback) : connect())
      return bound(target, name)
    },
  })
}

function createRetryingClient(client: pg.PoolClient): pg.PoolClient {
  return new Proxy(client, {
    get: (target, name) => {
      const member = bound(target, name)
      if (name !== 'query' || typeof member !== 'function') return member
      return (...values: unknown[]) => {
        const result: unknown = member(...values)
        return result instanceof Promise ? result.catch(rethrow) : result
      }
    },
  })
}

function bound(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name, target)
  return typeof member === 'function' ? member.bind(target) : member
}

function rethrow(cause: unknown): never {
  throw isUnavailable(cause)
    ? Object.assign(new Error('the database does not answer now', { cause }), { code: CANNOT_CONNECT_NOW })
    : cause
}
