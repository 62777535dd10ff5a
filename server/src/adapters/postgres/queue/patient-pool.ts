import type pg from 'pg'
import { isAway } from '../core/database.ts'

/** SQLSTATE cannot_connect_now: of the errors of a database that is away, the one that graphile-worker repeats. */
const CANNOT_CONNECT_NOW = '57P03'

/**
 * The pool as the queue is given it. That a job is done or failed, graphile-worker (0.18.0) writes without waiting: where
 * the connection is lost meanwhile, and the error has none of the codes that it knows, the rejection is nobody's and ends
 * the process. With this code it writes again until the database is back.
 */
export function createPatientPool(pool: pg.Pool): pg.Pool {
  const connect = async () => createPatientClient(await pool.connect().catch(rethrow))
  return new Proxy(pool, {
    get: (target, name) => {
      // With a callback it is the listener, which connects again by itself.
      if (name === 'connect')
        return (callback?: Parameters<pg.Pool['connect']>[0]) => (callback ? target.connect(callback) : connect())
      return bound(target, name)
    },
  })
}

function createPatientClient(client: pg.PoolClient): pg.PoolClient {
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
  throw isAway(cause)
    ? Object.assign(new Error('the database does not answer now', { cause }), { code: CANNOT_CONNECT_NOW })
    : cause
}
