import type { JournalPosition, PayoutRelease, ReleasedTransaction } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import type {
  ImportableTransaction,
  MissingRelease,
  SigningJournalStore,
} from '../../../exchange/ports/store/signing-journal.ts'
import { present } from '../../../lib/assert.ts'
import { hasRow, type RowOf, type Sql } from '../core/database.ts'
import { disownTransfers, lockLogs } from './disown-transfers.ts'
import { fromIntentJson, toIntentJson } from './intent-json.ts'

/** Only one comparison with a journal, or release of a hold, runs at a time. */
const SIGNING_LOCK = 7_240_926
/** Releases in one query. */
const BATCH = 5_000
/** A worker that reported nothing for this time does not run: it reports each minute, and while it compares. */
const SEEN_WITHIN = '3 minutes'

/** The timeline comes from the name of the WAL segment, because the control file shows a new one only after a checkpoint. */
const CLUSTER = `select (select system_identifier::text from pg_control_system()) as system,
  substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) as timeline`

type GenerationRow = { epoch: string; system_identifier: string; timeline: string }
type MissingReleaseRow = RowOf<MissingRelease, 'units'>
const MISSING_RELEASES = `select payout_id as "payoutId", network, tx_hash as "txHash", asset_id as "assetId", address,
  nullif(memo, '') as memo, units, released_at as at, acknowledged_at is not null as acknowledged,
  matched_payout as "matchedPayout" from forgotten_payouts`
const toMissingRelease = (row: MissingReleaseRow): MissingRelease => ({ ...row, units: BigInt(row.units) })

const UNREGISTERED_CHANGE = `select distinct t.network, c.index::int from forgotten_transactions t
  cross join lateral (select t.intent -> 'change' -> 'path' ->> 'index' as index) c
  where t.intent ->> 'family' = 'bitcoin' and c.index is not null and not exists (select 1 from house_addresses h
    where h.network = t.network and h.branch = 'change' and h.key_index = c.index::bigint)`

export function createSigningStore(sql: Sql): SigningJournalStore {
  return { ...createGenerations(sql), ...createJournals(sql), ...createMissingReleases(sql), ...createImports(sql) }
}

function createGenerations(
  sql: Sql,
): Pick<SigningJournalStore, 'generation' | 'recognizesGeneration' | 'beginGeneration'> {
  const lock = () => sql.query('select pg_advisory_xact_lock($1)', [SIGNING_LOCK])
  const begin = async () => {
    const [row] = await sql.query<GenerationRow>(
      `insert into signing_epochs (system_identifier, timeline) select h.system, h.timeline from (${CLUSTER}) h returning epoch`,
    )
    return row?.epoch ?? ''
  }
  return {
    async generation() {
      await lock()
      const [row] = await sql.query<GenerationRow & { moved: boolean }>(
        `select e.epoch, (e.system_identifier, e.timeline) is distinct from (h.system, h.timeline) as moved
         from signing_epochs e, (${CLUSTER}) h order by e.id desc limit 1`,
      )
      return row ? { generation: row.epoch, hasMoved: row.moved } : { generation: await begin(), hasMoved: false }
    },
    async recognizesGeneration(generation) {
      const isKnown = await hasRow(
        sql,
        `select 1 from signing_epochs where epoch = $1
         union all select 1 from forgotten_epochs where epoch = $1 and acknowledged_at is not null`,
        [generation],
      )
      if (isKnown) return true
      await sql.query('insert into forgotten_epochs (epoch) values ($1) on conflict do nothing', [generation])
      return false
    },
    async beginGeneration({ skipsIndexes }) {
      await lock()
      await sql.query('update signing_journals set segments = 0, bytes = 0, confirmed = true')
      await sql.query('update forgotten_payouts set acknowledged_at = clock_timestamp() where acknowledged_at is null')
      await sql.query('update forgotten_epochs set acknowledged_at = clock_timestamp() where acknowledged_at is null')
      // Customers may still pay to an address whose index this database has forgotten.
      if (skipsIndexes) await sql.query('select skip_key_indexes()')
      return begin()
    },
  }
}

function createJournals(
  sql: Sql,
): Pick<SigningJournalStore, 'recordPosition' | 'needsWholeComparison' | 'recordWholeComparison' | 'listUncompared'> {
  return {
    async recordPosition(journalId, { segments, bytes }, isNew) {
      const [before] = await sql.query<JournalPosition>(
        'select segments, bytes from signing_journals where id = $1 for update',
        [journalId],
      )
      const [row] = await sql.query<{ confirmed: boolean }>(
        `insert into signing_journals as j (id, segments, bytes, confirmed)
         select $1, $2, $3, not ($4 and exists (select 1 from signing_journals))
         on conflict (id) do update set seen_at = clock_timestamp(),
           segments = greatest(j.segments, excluded.segments),
           bytes = case when (j.segments, j.bytes) < (excluded.segments, excluded.bytes) then excluded.bytes else j.bytes end
         returning confirmed`,
        [journalId, segments, bytes, isNew],
      )
      return { before: before ?? null, isConfirmed: present(row, 'the signing journal').confirmed }
    },
    async needsWholeComparison(journalId, compared, isHeld) {
      const [row] = await sql.query<{ compared: string | null }>(
        'select compared from signing_journals where id = $1',
        [journalId],
      )
      if (!row || row.compared === null) return isHeld || row?.compared === null
      if (!isHeld || row.compared === compared) return false
      await sql.query('update signing_journals set compared = null')
      return true
    },
    async recordWholeComparison(journalId, compared) {
      await sql.query('update signing_journals set compared = $2 where id = $1', [journalId, compared])
    },
    async listUncompared() {
      const rows = await sql.query<{ id: string }>(
        `select id from signing_journals where compared is null and seen_at > clock_timestamp() - $1::interval order by id`,
        [SEEN_WITHIN],
      )
      return rows.map(({ id }) => id)
    },
  }
}

function createMissingReleases(
  sql: Sql,
): Pick<
  SigningJournalStore,
  | 'recordMissing'
  | 'selectUnstored'
  | 'storeForImport'
  | 'listUnregisteredChange'
  | 'listUnacknowledged'
  | 'listMissing'
  | 'hasMissing'
  | 'findRelease'
  | 'findEarlierPayment'
  | 'readPayoutOrigin'
  | 'listPayoutOrigins'
> {
  const list = async (where: string, limit: number) => {
    const query = `${MISSING_RELEASES} where ${where} order by released_at, network, tx_hash limit $1`
    return (await sql.query<MissingReleaseRow>(query, [limit])).map(toMissingRelease)
  }
  return {
    async recordMissing(releases) {
      const missing = new Set<string>()
      for (let n = 0; n < releases.length; n += BATCH)
        for (const txHash of await insertMissing(sql, releases.slice(n, n + BATCH))) missing.add(txHash)
      return [...missing]
    },
    async selectUnstored(txHashes) {
      const rows = await sql.query<{ tx_hash: string }>(
        `select distinct f.tx_hash from forgotten_payouts f where f.tx_hash = any($1::text[]) and not exists
           (select 1 from forgotten_transactions t where t.network = f.network and t.tx_hash = f.tx_hash)`,
        [txHashes],
      )
      return new Set(rows.map(({ tx_hash }) => tx_hash))
    },
    storeForImport: (transactions) => storeForImport(sql, transactions),
    listUnregisteredChange: () => sql.query(UNREGISTERED_CHANGE),
    listUnacknowledged: (limit) => list('acknowledged_at is null', limit),
    listMissing: (limit) => list('true', limit),
    hasMissing: () => hasRow(sql, 'select 1 from forgotten_payouts limit 1', [], 'has-missing-releases'),
    async findRelease(payoutId) {
      const query = `${MISSING_RELEASES} where payout_id = $1 order by released_at desc limit 1`
      const [row] = await sql.query<MissingReleaseRow>(query, [payoutId])
      return row ? toMissingRelease(row) : null
    },
    async findEarlierPayment({ id, others, approved, assetId, address, memo }) {
      const [row] = await sql.query<{ tx_hash: string }>(
        `with found as (
           select tx_hash, payout_id from forgotten_payouts
           where ((payout_id = $1::text or (payout_id = any($5::text[]) and matched_payout::text is distinct from payout_id))
               and not ($6 and matched_payout is not distinct from $1::uuid))
             or (not $6 and asset_id = $2 and address = $3 and memo = $4 and (matched_payout is null or matched_payout = $1::uuid))
           order by (payout_id = $1::text) desc, (payout_id = any($5::text[])) desc, released_at limit 1 for update)
         update forgotten_payouts f set matched_payout = $1::uuid from found
         where f.payout_id = found.payout_id
         returning found.tx_hash`,
        [id, assetId, address, memo ?? '', others, approved],
      )
      return row?.tx_hash ?? null
    },
    async readPayoutOrigin(depositId, leg) {
      const { before, ...origin } = await readOrigin(sql, depositId)
      return originOf(origin, leg, before)
    },
    async listPayoutOrigins(depositId, leg, further) {
      const { before, ...origin } = await readOrigin(sql, depositId)
      return Array.from({ length: before + further }, (_, n) => originOf(origin, leg, n))
    },
  }
}

type Origin = Readonly<{ network: string; identity: string }>

/** The deposit on its chain, and the number of its payouts until now. */
async function readOrigin(sql: Sql, depositId: string): Promise<Origin & Readonly<{ before: number }>> {
  const [row] = await sql.query<Origin & { before: number }>(
    `select d.network, d.identity,
       (select count(*)::int from payouts p where p.deposit_id = d.id and p.execution_id is not null) as before
     from deposits d where d.id = $1`,
    [depositId],
  )
  return present(row, 'the deposit that is paid')
}

/** Its form never changes: the ids of all payouts are derived from it. */
const originOf = ({ network, identity }: Origin, leg: number, before: number): string =>
  JSON.stringify([network, identity, leg, String(before)])

function createImports(
  sql: Sql,
): Pick<SigningJournalStore, 'listImportable' | 'isSuperseded' | 'isCancelled' | 'findByConflictKey' | 'markImported'> {
  return {
    listImportable: (after, limit) => listImportable(sql, after, limit),
    isSuperseded: ({ network, txHash, conflictKey }) =>
      hasRow(
        sql,
        `select 1 from forgotten_payouts p
         join forgotten_payouts later on later.payout_id = p.payout_id and later.released_at > p.released_at
         left join forgotten_transactions t on t.network = later.network and t.tx_hash = later.tx_hash
         where p.network = $1 and p.tx_hash = $2 and t.conflict_key is distinct from $3`,
        [network, txHash, conflictKey],
      ),
    isCancelled: ({ network, conflictKey }) =>
      hasRow(
        sql,
        "select 1 from forgotten_transactions where network = $1 and conflict_key = $2 and intent->>'cancels' = 'true'",
        [network, conflictKey],
      ),
    async findByConflictKey(network, conflictKey) {
      const [row] = await sql.query<{ id: string }>(
        "select id from transactions where network = $1 and conflict_key = $2 and state <> 'expired'",
        [network, conflictKey],
      )
      return row?.id ?? null
    },
    async markImported(network, txHash) {
      await sql.query(
        'update forgotten_payouts set acknowledged_at = clock_timestamp(), matched_payout = payout_id::uuid where network = $1 and tx_hash = $2',
        [network, txHash],
      )
      await sql.query(
        `update payouts set attention = null where state = 'signed' and attention = 'RELEASED' and id::text in
           (select payout_id from forgotten_payouts where network = $1 and tx_hash = $2)`,
        [network, txHash],
      )
      await sql.query(
        'update forgotten_transactions set imported_at = clock_timestamp() where network = $1 and tx_hash = $2',
        [network, txHash],
      )
    },
  }
}

/** Inserts and returns the releases whose transaction is not in `attempts`. An attempt is stored before its release and never deleted. */
async function insertMissing(sql: Sql, releases: readonly PayoutRelease[]): Promise<readonly string[]> {
  const missing = await sql.query<{ n: number }>(
    `select r.n::int from unnest($1::text[], $2::text[]) with ordinality as r (network, tx_hash, n)
     where not exists (select 1 from attempts a where a.network = r.network and a.tx_hash = r.tx_hash)`,
    [releases.map(({ network }) => network), releases.map(({ txHash }) => txHash)],
  )
  if (missing.length === 0) return []
  const forgotten = missing.flatMap(({ n }) => releases[n - 1] ?? [])
  await lockLogs(sql, forgotten)
  await sql.query(
    `insert into forgotten_payouts (network, tx_hash, payout_id, asset_id, address, memo, units, released_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::timestamptz[])
     on conflict do nothing`,
    [
      forgotten.map(({ network }) => network),
      forgotten.map(({ txHash }) => txHash),
      forgotten.map(({ payoutId }) => payoutId),
      forgotten.map(({ assetId }) => assetId),
      forgotten.map(({ address }) => address),
      forgotten.map(({ memo }) => memo ?? ''),
      forgotten.map(({ units }) => units.toString()),
      forgotten.map(({ at }) => at.toISOString()),
    ],
  )
  await disownTransfers(sql, forgotten)
  return forgotten.map(({ txHash }) => txHash)
}

async function storeForImport(sql: Sql, transactions: readonly ReleasedTransaction[]): Promise<void> {
  for (const { network, txHash, raw, intent, feeUnits, conflictKey, wallet, from } of transactions)
    await sql.query(
      `insert into forgotten_transactions (network, tx_hash, raw, intent, fee_units, conflict_key, wallet, branch, key_index)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
      [
        network,
        txHash,
        raw,
        JSON.stringify(toIntentJson(intent)),
        feeUnits,
        conflictKey,
        wallet,
        from.branch,
        from.index,
      ],
    )
}

type ImportableRow = RowOf<Omit<ImportableTransaction, 'intent' | 'from' | 'releases'>, 'feeUnits'> &
  KeyPath & { intent: unknown }

async function listImportable(
  sql: Sql,
  after: Parameters<SigningJournalStore['listImportable']>[0],
  limit: number,
): Promise<readonly ImportableTransaction[]> {
  const rows = await sql.query<ImportableRow>(
    `select t.network, t.tx_hash as "txHash", t.raw, t.intent, t.fee_units as "feeUnits", t.conflict_key as "conflictKey",
       t.wallet, t.branch, t.key_index::int as index, r.at::text as "releasedAt"
     from forgotten_transactions t cross join lateral (
       select coalesce(min(p.released_at), '-infinity') as at from forgotten_payouts p
       where p.network = t.network and p.tx_hash = t.tx_hash) r
     where t.imported_at is null and ($2::timestamptz is null or (r.at, t.network, t.tx_hash) > ($2, $3, $4))
     order by r.at, t.network, t.tx_hash limit $1`,
    [limit, after?.releasedAt ?? null, after?.network ?? null, after?.txHash ?? null],
  )
  const releaseRows = await sql.query<MissingReleaseRow>(
    `${MISSING_RELEASES} where (network, tx_hash) in (select * from unnest($1::text[], $2::text[]))`,
    [rows.map(({ network }) => network), rows.map(({ txHash }) => txHash)],
  )
  const releases = releaseRows.map(toMissingRelease)
  return rows.map(({ intent, branch, index, ...row }) => ({
    ...row,
    intent: fromIntentJson(intent),
    feeUnits: BigInt(row.feeUnits),
    from: { branch, index },
    releases: releases.filter(({ network, txHash }) => network === row.network && txHash === row.txHash),
  }))
}
