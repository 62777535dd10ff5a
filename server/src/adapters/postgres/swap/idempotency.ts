import { assert } from '../../../lib/assert.ts'
import type { SwapIdempotencyStore } from '../../../swap/ports/store/idempotency.ts'
import type { Database } from '../core/database.ts'

export function createSwapIdempotencyStore(database: Database): SwapIdempotencyStore {
  return {
    async findResponse(partnerId, key) {
      // Exchanges and swaps share one key space per partner.
      const [row] = await database.query<{ request_hash: string; answer: string | null }>(
        `select request_hash, answer from kept_answers where partner_id = $1 and key = $2
         union all select request_hash, null from idempotency_keys where partner_id = $1 and key = $2 limit 1`,
        [partnerId, key],
      )
      return row === undefined ? null : { requestHash: row.request_hash, response: row.answer }
    },
    async saveResponse(partnerId, key, { requestHash, response }) {
      // The update changes nothing; it makes `returning` return the existing row.
      const [row] = await database.query<{ request_hash: string; answer: string }>(
        `insert into kept_answers as k (partner_id, key, request_hash, answer) values ($1, $2, $3, $4)
         on conflict (partner_id, key) do update set answer = k.answer returning request_hash, answer`,
        [partnerId, key, requestHash, response],
      )
      assert(row, 'the upsert returns a row')
      return { requestHash: row.request_hash, response: row.answer }
    },
  }
}
