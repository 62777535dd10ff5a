import { AppError } from '../../../core/domain/errors.ts'
import type { ClaimedResponse, IdempotencyStore } from '../../../core/ports/store/idempotency.ts'
import type { Sql, Tx } from './database.ts'

/**
 * All requests share one key space per partner; creates of exchanges have a table of their own. A row without an answer is a claim. No
 * row is returned while another claim is in force.
 */
const CLAIM = `with claimed as (
    insert into kept_answers as k (partner_id, key, request_hash, claim_id, claimed_until)
    select $1::uuid, $2::text, $3::text, $4::uuid, clock_timestamp() + $5::bigint * interval '1 millisecond'
    where not exists (select 1 from idempotency_keys where partner_id = $1 and key = $2)
    on conflict (partner_id, key) do update set request_hash = excluded.request_hash, claim_id = excluded.claim_id,
      claimed_until = excluded.claimed_until, created_at = excluded.created_at
      where k.answer is null and k.claimed_until <= statement_timestamp()
    returning 1)
  select true as "isClaimed", '' as "requestHash", null::text as response from claimed
  union all select false, request_hash, answer from kept_answers where partner_id = $1 and key = $2 and answer is not null
  union all select false, request_hash, null from idempotency_keys where partner_id = $1 and key = $2
  limit 1`

type ClaimRow = Readonly<{ isClaimed: boolean; requestHash: string; response: string | null }>

export function createIdempotencyStore(sql: Sql): IdempotencyStore {
  return {
    async claim({ partnerId, key, id }, requestHash, leaseMs) {
      const values = [partnerId, key, requestHash, id, leaseMs]
      const [row] = await sql.query<ClaimRow>(CLAIM, values, 'claim-idempotency-key')
      if (row === undefined) return 'held'
      return row.isClaimed ? 'claimed' : { requestHash: row.requestHash, response: row.response }
    },
    async renew({ partnerId, key, id }, leaseMs) {
      await sql.query(
        `update kept_answers set claimed_until = clock_timestamp() + $4::bigint * interval '1 millisecond'
         where partner_id = $1 and key = $2 and claim_id = $3 and answer is null`,
        [partnerId, key, id, leaseMs],
      )
    },
    save: (claimed) => save(sql, claimed),
    async release({ partnerId, key, id }) {
      await sql.query(
        'delete from kept_answers where partner_id = $1 and key = $2 and claim_id = $3 and answer is null',
        [partnerId, key, id],
      )
    },
  }
}

/** Saves the response of an act in its transaction, which is rolled back if another attempt has taken the claim. */
export async function saveInTransaction(tx: Tx, claimed: ClaimedResponse | null): Promise<void> {
  if (claimed === null || (await save(tx, claimed)) !== null) return
  throw new AppError('OVERLOADED', 'another request with this Idempotency-Key is running: send it again', {
    retryAfterSeconds: 2,
  })
}

async function save(sql: Sql, { claim, response }: ClaimedResponse): Promise<string | null> {
  const [row] = await sql.query<{ answer: string }>(
    `update kept_answers set answer = coalesce(answer, $4) where partner_id = $1 and key = $2 and claim_id = $3
     returning answer`,
    [claim.partnerId, claim.key, claim.id, response],
  )
  return row?.answer ?? null
}
