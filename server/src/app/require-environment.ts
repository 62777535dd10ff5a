import type { Sql } from '../adapters/postgres/core/database.ts'
import { findEnvironment } from '../adapters/postgres/core/environment.ts'
import { ConfigError } from '../config/load.ts'
import type { Environment } from '../core/domain/network.ts'

const REMEDY = {
  production:
    'set SWAPYARD_CONFIG to the config file of production, or DATABASE_URL to a database of the sandbox (unset: an embedded one)',
  sandbox:
    'set DATABASE_URL to the database of production; if the sandbox was started on that one by mistake, see "One environment per database" in docs/guides/operate.md',
}

/**
 * Refuses a database that belongs to the other environment: each would act on the partners, jobs and cursors of the other.
 * Returns whether the database belongs to one: it does not before its first start.
 */
export async function requireEnvironment(sql: Sql, environment: Environment): Promise<boolean> {
  const stored = await findEnvironment(sql)
  if (stored === null || stored === environment) return stored !== null
  throw new ConfigError([
    `DATABASE_URL: the database belongs to ${nameOf(stored)}, and these settings are of ${nameOf(environment)}: ${REMEDY[stored]}`,
  ])
}

const nameOf = (environment: Environment) => (environment === 'sandbox' ? 'the sandbox' : 'production')
