import { randomUUID } from 'node:crypto'
import type { Database } from '../adapters/postgres/core/database.ts'
import { publishableScopes, scopes } from '../core/domain/partner.ts'
import { hashSecret } from '../core/services/partner-keys.ts'
import { sandboxKeys } from './app.ts'
import { sandboxPageKey } from './sandbox-page-key.ts'

/** Creates the sandbox's two partners with their published keys. The sandbox listens on loopback only. */
export async function seedSandboxPartners(database: Database, pepper: Uint8Array): Promise<void> {
  for (const key of sandboxKeys) {
    await database.transaction(async (tx) => {
      await tx.query(
        'insert into partners (id, name, email, open_exchanges_max, rate_limit_per_minute) values ($1, $2, $3, 1000000, 60000) on conflict (name) do nothing',
        [randomUUID(), key, `${key}@partner.example`],
      )
      await tx.query(
        "insert into api_keys (id, partner_id, scopes, created_by) select $1, id, $2, 'sandbox' from partners where name = $1 on conflict (id) do nothing",
        [key, scopes],
      )
      await tx.query('insert into key_secrets (key_id, hmac) values ($1, $2) on conflict do nothing', [
        key,
        hashSecret(key, pepper),
      ])
    })
  }
  await database.transaction(async (tx) => {
    await tx.query(
      `insert into api_keys (id, partner_id, scopes, created_by, origins) select $1, id, $3, 'sandbox', $4
       from partners where name = $2 on conflict (id) do nothing`,
      [sandboxPageKey, sandboxKeys[0], publishableScopes, ['http://localhost:*', 'http://127.0.0.1:*']],
    )
    await tx.query('insert into key_secrets (key_id, hmac) values ($1, $2) on conflict do nothing', [
      sandboxPageKey,
      hashSecret(sandboxPageKey, pepper),
    ])
  })
}
