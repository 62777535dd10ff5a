import { randomUUID } from 'node:crypto'
import type { AssetId } from '../../../core/domain/asset.ts'
import type { Partner, Scope } from '../../../core/domain/partner.ts'
import type { KeyStore, PartnerStore, StoredKey } from '../../../core/ports/store/partners.ts'
import { type Database, hasRow, memoOrNull, type Sql, type Tx } from './database.ts'
import { uuidOrNull } from './ids.ts'

type PartnerRow = Omit<Partner, 'defaultRecipients'> &
  Readonly<{ recipients: { asset_id: AssetId; address: string; memo: string }[] | null }>
type KeyRow = PartnerRow & {
  keyId: string
  scopes: Scope[]
  ipAllowList: string[]
  origins: string[] | null
  secrets: { hmac: string; expires_at: string | null }[] | null
}

const PARTNER = `p.id, p.name, p.fee_bps as "feeBps", p.suspended, p.open_exchanges_max as "openExchangesMax",
  p.rate_limit_per_minute as "rateLimitPerMinute", p.strict, p.refund_to_sender as "refundToSender",
  (select json_agg(r) from default_recipients r where r.partner_id = p.id) as recipients`

export function createPartnerStore(database: Database): PartnerStore {
  return {
    keys: createKeyStore(database),
    findKey: (keyId) => findKey(database, keyId),
    async touchKey(keyId) {
      await database.query("update api_keys set last_used_at = date_trunc('minute', clock_timestamp()) where id = $1", [
        keyId,
      ])
    },
    async add({ name, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, email = null }) {
      const id = randomUUID()
      const added = await database.query(
        `insert into partners (id, name, fee_bps, open_exchanges_max, rate_limit_per_minute, strict, refund_to_sender, email)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (name) do nothing returning 1`,
        [id, name, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, email],
      )
      return added.length > 0 ? id : null
    },
    set: (name, { feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, refundByLink, email }) =>
      hasRow(
        database,
        `update partners set fee_bps = coalesce($2, fee_bps), open_exchanges_max = coalesce($3, open_exchanges_max),
           rate_limit_per_minute = coalesce($4, rate_limit_per_minute), strict = coalesce($5, strict),
           refund_to_sender = coalesce($6, refund_to_sender), refund_by_link = coalesce($7, refund_by_link),
           email = case when $8 then $9 else email end
           where name = $1 returning 1`,
        [
          name,
          feeBps,
          openExchangesMax,
          rateLimitPerMinute,
          strict,
          refundToSender,
          refundByLink,
          email !== undefined,
          email,
        ],
      ),
    async findId(nameOrId) {
      const [row] = await database.query<{ id: string }>(
        'select id from partners where id = $2 or name = $1 order by id = $2 desc nulls last limit 1',
        [nameOrId, uuidOrNull(nameOrId)],
      )
      return row?.id ?? null
    },
    allowsRefundByLink: (partnerId) =>
      hasRow(database, 'select 1 from partners where id = $1 and refund_by_link', [partnerId]),
    setSuspended: (name, suspended) =>
      hasRow(database, 'update partners set suspended = $2 where name = $1 returning 1', [name, suspended]),
    setRecipient: (name, assetId, address, memo) =>
      hasRow(
        database,
        `insert into default_recipients (partner_id, asset_id, address, memo) select id, $2, $3, $4 from partners where name = $1
         on conflict (partner_id, asset_id) do update set address = excluded.address, memo = excluded.memo returning 1`,
        [name, assetId, address, memo ?? ''],
      ),
  }
}

/** A partner's row with its recipients, for the audit log; null if the partner does not exist. */
export async function partnerRow(sql: Sql, name: string): Promise<Record<string, unknown> | null> {
  const [result] = await sql.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(p) || jsonb_build_object('recipients', coalesce((select jsonb_agg(to_jsonb(r) - 'partner_id' order by r.asset_id)
       from default_recipients r where r.partner_id = p.id), '[]'), 'fee_addresses', (select jsonb_object_agg(f.network, to_jsonb(f) - 'partner_id' - 'network')
       from fee_addresses f where f.partner_id = p.id), 'monthly_payouts', (select jsonb_object_agg(m.asset_id, jsonb_build_object('minimum', m.minimum, 'converts_others', m.converts_others))
       from monthly_payout_settings m where m.partner_id = p.id)) as row from partners p where p.name = $1`,
    [name],
  )
  return result?.row ?? null
}

/** A key's row with the number of its valid secrets, for the audit log; null if the key does not exist. */
export async function keyRow(sql: Sql, keyId: string): Promise<Record<string, unknown> | null> {
  const [result] = await sql.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(k) || jsonb_build_object('secrets', (select count(*) from key_secrets s
       where s.key_id = k.id and (s.expires_at is null or s.expires_at > clock_timestamp()))) as row from api_keys k where k.id = $1`,
    [keyId],
  )
  return result?.row ?? null
}

async function findKey(database: Database, keyId: string): Promise<StoredKey | null> {
  const [row] = await database.query<KeyRow>(
    `select ${PARTNER}, k.id as "keyId", k.scopes, k.ip_allow_list as "ipAllowList", k.origins,
       (select json_agg(json_build_object('hmac', encode(s.hmac, 'hex'), 'expires_at', s.expires_at)) from key_secrets s
        where s.key_id = k.id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets
     from api_keys k join partners p on p.id = k.partner_id where k.id = $1 and k.revoked_at is null`,
    [keyId],
    'find-key',
  )
  if (!row) return null
  const { keyId: _, scopes, ipAllowList, origins, secrets, ...partner } = row
  return {
    keyId,
    partner: toPartner(partner),
    scopes: new Set(scopes),
    ipAllowList,
    origins,
    secrets: (secrets ?? []).map(({ hmac, expires_at }) => ({
      hmac: Buffer.from(hmac, 'hex'),
      expiresAt: expires_at === null ? null : new Date(expires_at),
    })),
  }
}

function createKeyStore(database: Database): KeyStore {
  return {
    async add(partnerName, { keyId, hmac, scopes, ipAllowList, createdBy, origins, lifetimeMs }) {
      return database.transaction(async (tx) => {
        const rows = await tx.query(
          `insert into api_keys (id, partner_id, scopes, ip_allow_list, created_by, origins)
           select $2, id, $3, $4, $5, $6 from partners where name = $1 returning 1`,
          [partnerName, keyId, scopes, ipAllowList, createdBy, origins ?? null],
        )
        if (rows.length > 0) await addSecret(tx, keyId, hmac, lifetimeMs)
        return rows.length > 0
      })
    },
    async rotate(keyId, hmac, overlapMs, lifetimeMs) {
      return database.transaction(async (tx) => {
        const rows = await tx.query('select 1 from api_keys where id = $1 and revoked_at is null for update', [keyId])
        if (rows.length === 0) return false
        await tx.query(
          `update key_secrets set expires_at = least(coalesce(expires_at, 'infinity'), clock_timestamp() + $2::bigint * interval '1 millisecond') where key_id = $1`,
          [keyId, overlapMs],
        )
        // Keeps only the newest of the expiring secrets: a key has at most two valid ones.
        await tx.query(
          `delete from key_secrets where key_id = $1 and hmac not in (select hmac from key_secrets where key_id = $1 order by created_at desc limit 1)`,
          [keyId],
        )
        await addSecret(tx, keyId, hmac, lifetimeMs)
        return true
      })
    },
    set: (keyId, { scopes, ipAllowList }) =>
      hasRow(
        database,
        `update api_keys set scopes = coalesce($2, scopes), ip_allow_list = coalesce($3, ip_allow_list)
         where id = $1 and revoked_at is null returning 1`,
        [keyId, scopes, ipAllowList],
      ),
    revoke: (keyId) =>
      hasRow(
        database,
        'update api_keys set revoked_at = clock_timestamp() where id = $1 and revoked_at is null returning 1',
        [keyId],
      ),
  }
}

async function addSecret(tx: Tx, keyId: string, hmac: Buffer, lifetimeMs: number | null = null): Promise<void> {
  await tx.query(
    `insert into key_secrets (key_id, hmac, expires_at) values ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')`,
    [keyId, hmac, lifetimeMs],
  )
}

function toPartner({ recipients, ...partner }: PartnerRow): Partner {
  return {
    ...partner,
    defaultRecipients: new Map(
      (recipients ?? []).map(({ asset_id, address, memo }) => [asset_id, { address, memo: memoOrNull(memo) }]),
    ),
  }
}
