import type { Exchange } from '../../../exchange/domain/exchange.ts'
import { type PayeeMacs, recipientPayee, refundPayee } from '../../../exchange/ports/payee-macs.ts'
import type { CreateOutcome, NewExchange } from '../../../exchange/ports/store/exchanges.ts'
import { assert, present } from '../../../lib/assert.ts'
import type { Database, Sql, Tx } from '../core/database.ts'
import { release, reserveFixed } from './inventory.ts'
import { type ExchangeRow, exchangeColumns, toExchange } from './rows.ts'

type Verdict = 'created' | 'rate_expired' | 'rate_used' | 'address_is_ours' | 'refund_is_ours'
type Inserted = {
  id: string
  verdict: Verdict
  created_at: Date | null
  expires_at: Date | null
  fixed_until: Date | null
}

/*
 * One statement for a whole batch: for each row it inserts the exchange, its deposit target, its check and its event, or returns why
 * not. One commit for many creates saves disk syncs. Only this statement compares the rate's expiry with the clock, and it
 * uses the database's clock (I-18). The nonce of a rate is unique, so a second use inserts nothing; sorted nonces prevent
 * deadlocks between batches. Addresses of ours are rejected on every network: one key has the same address on all EVM
 * networks, and a payment to it on a network without a watcher is lost. The lookups use scalar subqueries because for
 * `exists` the planner would hash the whole table in every batch.
 */
const INSERT = `
with input as (
  select * from jsonb_to_recordset($1::jsonb) as i (
    n int, id uuid, partner_id uuid, type text, flow text, from_currency text, from_network text, to_currency text, to_network text,
    legs jsonb, from_units numeric, to_units numeric, max_units numeric, estimate jsonb, address text, memo text, key_index bigint, recipient_address text, recipient_memo text,
    refund_address text, refund_memo text, recipient_mac text, refund_mac text, partner_fee_bps int, quoted_gross_units numeric, quoted_network_units numeric, rate_nonce text, rate_expires_at timestamptz, expiry_ms bigint, fixed_lock_ms bigint, fixed_inclusion_ms bigint, plan jsonb, external_id text)
), checked as (
  select i.*, date_trunc('milliseconds', clock_timestamp()) as now, case
    when i.rate_expires_at < clock_timestamp() then 'rate_expired'
    when (select 1 from deposit_targets d where d.address = i.recipient_address limit 1) is not null
      or (select 1 from house_addresses h where h.address = i.recipient_address limit 1) is not null then 'address_is_ours'
    when (select 1 from deposit_targets d where d.address = i.refund_address limit 1) is not null
      or (select 1 from house_addresses h where h.address = i.refund_address limit 1) is not null then 'refund_is_ours'
    else 'created' end as verdict
  from input i
), inserted as (
  insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, max_units, estimate,
    recipient_address, recipient_memo, refund_address, refund_memo, recipient_mac, refund_mac, partner_fee_bps, quoted_gross_units, quoted_network_units, rate_nonce, plan, external_id, created_at, expires_at, fixed_until, fixed_inclusion_ms)
  select id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, max_units, estimate,
    recipient_address, recipient_memo, refund_address, refund_memo, recipient_mac, refund_mac, partner_fee_bps, quoted_gross_units, quoted_network_units, rate_nonce, plan, external_id, now, now + expiry_ms * interval '1 millisecond',
    now + fixed_lock_ms * interval '1 millisecond', fixed_inclusion_ms
  from checked where verdict = 'created' order by rate_nonce, n
  on conflict (rate_nonce) do nothing
  returning id, created_at, expires_at, fixed_until
), targets as (
  insert into deposit_targets (exchange_id, leg, network, address, memo, key_index)
  select c.id, 0, c.from_network, c.address, c.memo, c.key_index from checked c join inserted using (id)
), scheduled as (
  insert into exchange_checks (exchange_id, next_check_at) select id, expires_at from inserted
), logged as (
  insert into events (exchange_id, event, status) select id, 'created', 'pending' from inserted
)
select c.id, case when c.verdict = 'created' and i.id is null then 'rate_used' else c.verdict end as verdict,
  i.created_at, i.expires_at, i.fixed_until
from checked c left join inserted i using (id)`

export async function createExchanges(
  database: Database,
  batch: readonly NewExchange[],
  macs: PayeeMacs,
): Promise<readonly CreateOutcome[]> {
  const leaders = new Map<string, NewExchange>()
  for (const row of batch) {
    const key = row.idempotency === null ? row.id : `${row.partnerId} ${row.idempotency.key}`
    if (!leaders.has(key)) leaders.set(key, row)
  }
  const unique = [...leaders.values()]
  const byId = new Map((await createUnique(database, unique, macs)).map((outcome, n) => [unique[n]?.id, outcome]))
  return batch.map((row) => {
    const leader = row.idempotency === null ? row : leaders.get(`${row.partnerId} ${row.idempotency.key}`)
    const outcome = byId.get(leader?.id)
    assert(leader && outcome, `exchange ${row.id} has an outcome`)
    if (leader === row) return outcome
    // The same key twice in one batch: the second is a repeat, or a conflict if its request differs.
    if (leader.idempotency?.requestHash !== row.idempotency?.requestHash) return { kind: 'idempotency_conflict' }
    return outcome.kind === 'created' ? { ...outcome, kind: 'repeated' } : outcome
  })
}

/** Creates one exchange per rate first. The others of the same rate must not reserve stock, even briefly, that others request. */
async function createUnique(
  database: Database,
  batch: readonly NewExchange[],
  macs: PayeeMacs,
): Promise<readonly CreateOutcome[]> {
  const leaders = new Map<string, NewExchange>()
  const rateOf = (row: NewExchange) => row.rate?.nonce ?? row.id
  for (const row of batch) if (!leaders.has(rateOf(row))) leaders.set(rateOf(row), row)
  const firsts = [...leaders.values()]
  const byId = new Map((await createFirsts(database, firsts, macs)).map((outcome, n) => [firsts[n]?.id, outcome]))
  for (const row of batch) {
    const outcome = byId.has(row.id)
      ? null
      : toRepeatOutcome(present(byId.get(leaders.get(rateOf(row))?.id), 'the first of a rate'))
    if (outcome) byId.set(row.id, outcome)
  }
  const again = batch.filter((row) => !byId.has(row.id))
  if (again.length > 0)
    (await createUnique(database, again, macs)).forEach((outcome, n) => void byId.set(again[n]?.id, outcome))
  return batch.map((row) => present(byId.get(row.id), `the outcome of exchange ${row.id}`))
}

/**
 * The outcome of another create with the same rate, and so with the same pair, amount and expiry. Null if the first one
 * failed for a reason of its own: then the next one is tried.
 */
function toRepeatOutcome(first: CreateOutcome): CreateOutcome | null {
  switch (first.kind) {
    case 'created':
    case 'repeated':
      return { kind: 'rate_used' }
    case 'rate_used':
    case 'rate_expired':
    case 'insufficient':
      return first
    case 'address_is_ours':
    case 'refund_is_ours':
    case 'idempotency_conflict':
      return null
  }
}

async function createFirsts(
  database: Database,
  batch: readonly NewExchange[],
  macs: PayeeMacs,
): Promise<readonly CreateOutcome[]> {
  const simple = batch.every((row) => row.idempotency === null && row.flow === 'standard')
  if (simple) return outcomes(batch, await insert(database, batch, macs))
  return database.transaction(async (tx) => {
    const keys = await takeKeys(tx, batch)
    const refused = new Map<string, CreateOutcome>(keys)
    for (const [id, outcome] of await findSpentRates(tx, batch)) if (!refused.has(id)) refused.set(id, outcome)
    for (const [id, outcome] of await reserveStock(tx, batch, refused)) refused.set(id, outcome)
    const rows = await insert(
      tx,
      batch.filter((row) => !refused.has(row.id)),
      macs,
    )
    await undoUnused(tx, batch, rows)
    return outcomes(batch, rows, refused)
  })
}

/** Reserves the stock of fixed rates. Returns the outcomes of those without. */
async function reserveStock(
  tx: Tx,
  batch: readonly NewExchange[],
  refused: ReadonlyMap<string, CreateOutcome>,
): Promise<ReadonlyMap<string, CreateOutcome>> {
  const requested = batch.flatMap((row) => {
    if (refused.has(row.id) || row.fixedLockMs === null) return []
    const assetId = present(row.legs.at(-1), 'the last leg of a plan').to.id
    // A payment that was seen within the lock may be in a block later.
    return [{ row, assetId, forMs: row.fixedLockMs + (row.fixedInclusionMs ?? 0) }]
  })
  const reserved = await reserveFixed(tx, requested)
  const without = requested.filter(({ row }) => !reserved.has(row.id)).map(({ row }) => row)
  // The lock of the stock may have waited for a create with the same rate, which then holds what this one lacks.
  const spent = await findSpentRates(tx, without)
  return new Map(without.map(({ id }) => [id, spent.get(id) ?? { kind: 'insufficient' as const }]))
}

/** Rates that are expired or used, so that nothing is reserved for them. The insert checks again. */
async function findSpentRates(tx: Tx, batch: readonly NewExchange[]): Promise<ReadonlyMap<string, CreateOutcome>> {
  const rated = batch.filter((row) => row.rate !== null)
  if (rated.length === 0) return new Map()
  const spent = await tx.query<{ id: string; kind: 'rate_expired' | 'rate_used' }>(
    `select r.id, case when r.expires_at < clock_timestamp() then 'rate_expired' else 'rate_used' end as kind
     from unnest($1::text[], $2::text[], $3::timestamptz[]) as r (id, nonce, expires_at)
     where r.expires_at < clock_timestamp() or exists (select 1 from exchanges e where e.rate_nonce = r.nonce)`,
    [rated.map((row) => row.id), rated.map((row) => row.rate?.nonce), rated.map((row) => row.rate?.expiresAt)],
  )
  return new Map(spent.map(({ id, kind }) => [id, { kind }]))
}

/** Stores the idempotency keys first: this waits for a concurrent create with the same key, then finds it. A key that another request used or holds conflicts. */
async function takeKeys(tx: Tx, batch: readonly NewExchange[]): Promise<ReadonlyMap<string, CreateOutcome>> {
  const keyed = batch.filter((row) => row.idempotency !== null)
  const repeats = new Map<string, CreateOutcome>()
  if (keyed.length === 0) return repeats
  const columns = [
    keyed.map((row) => row.partnerId),
    keyed.map((row) => row.idempotency?.key),
    keyed.map((row) => row.idempotency?.requestHash),
    keyed.map((row) => row.id),
  ]
  const inserted = await tx.query<{ exchange_id: string }>(
    `insert into idempotency_keys (partner_id, key, request_hash, exchange_id)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) as k (partner_id, key, request_hash, exchange_id)
     where not exists (select 1 from kept_answers a where a.partner_id = k.partner_id and a.key = k.key
       and (a.answer is not null or a.claimed_until > statement_timestamp()))
     order by partner_id, key on conflict do nothing returning exchange_id`,
    columns,
  )
  const ours = new Set(inserted.map((row) => row.exchange_id))
  for (const row of keyed.filter(({ id }) => !ours.has(id))) {
    const earlier = await findRepeated(tx, row.partnerId, row.idempotency?.key ?? '')
    repeats.set(
      row.id,
      earlier && earlier.requestHash === row.idempotency?.requestHash
        ? { kind: 'repeated', exchange: earlier.exchange }
        : { kind: 'idempotency_conflict' },
    )
  }
  return repeats
}

/** The exchange that was created with a key, as the first response showed it. */
export async function findRepeated(
  sql: Sql,
  partnerId: string,
  key: string,
): Promise<{ requestHash: string; exchange: Exchange } | null> {
  const [row] = await sql.query<RepeatedRow>(
    `select ${exchangeColumns}, k.request_hash, k.expires_at as answered_expires_at, k.fixed_until as answered_fixed_until
     from idempotency_keys k join exchanges e on e.id = k.exchange_id
     join deposit_targets t on t.exchange_id = e.id and t.leg = 0 where k.partner_id = $1 and k.key = $2`,
    [partnerId, key],
  )
  return row ? { requestHash: row.request_hash, exchange: createdAs(row) } : null
}

/** `answered_…`: the times that the create stated; null = those of the exchange. */
type RepeatedRow = ExchangeRow &
  Readonly<{ request_hash: string; answered_expires_at: Date | null; answered_fixed_until: Date | null }>

/** The response of a create says `pending` and its own times, whatever the exchange has now. */
function createdAs(row: RepeatedRow): Exchange {
  const { answered_expires_at: expiresAt, answered_fixed_until: fixedUntil } = row
  const times = expiresAt === null ? {} : { expiresAt, fixedUntil }
  return { ...toExchange(row), ...times, status: 'pending', reason: null }
}

async function insert(
  target: Database | Tx,
  batch: readonly NewExchange[],
  macs: PayeeMacs,
): Promise<readonly Inserted[]> {
  if (batch.length === 0) return []
  return target.query<Inserted>(
    INSERT,
    [JSON.stringify(batch.map((row, n) => toInput(row, n, macs)))],
    'create-exchanges',
  )
}

/** Releases the keys and reservations of rows that were then refused, in the transaction that reserved them. */
async function undoUnused(tx: Tx, batch: readonly NewExchange[], rows: readonly Inserted[]): Promise<void> {
  const unused = rows.filter((row) => row.verdict !== 'created').map((row) => row.id)
  const held = batch.filter((row) => row.fixedLockMs !== null && unused.includes(row.id))
  const without = [...unused, ...batch.filter((row) => !rows.some(({ id }) => id === row.id)).map((row) => row.id)]
  if (without.length > 0) await tx.query('delete from idempotency_keys where exchange_id = any($1::uuid[])', [without])
  for (const row of held) await release(tx, `hold:${row.id}`)
}

function toInput(row: NewExchange, n: number, macs: PayeeMacs) {
  const [first] = row.legs
  const last = row.legs.at(-1)
  assert(first && last, 'a plan has a leg')
  return {
    n,
    id: row.id,
    partner_id: row.partnerId,
    type: row.type,
    flow: row.flow,
    from_currency: first.from.ticker,
    from_network: first.from.network,
    to_currency: last.to.ticker,
    to_network: last.to.network,
    legs: row.legs,
    from_units: row.fromUnits.toString(),
    to_units: row.toUnits.toString(),
    max_units: row.maxUnits?.toString() ?? null,
    estimate: row.estimate,
    address: row.deposit.address,
    memo: row.deposit.memo ?? '',
    key_index: row.keyIndex,
    recipient_address: row.recipient?.address ?? null,
    recipient_memo: row.recipient?.memo ?? null,
    refund_address: row.refund?.address ?? null,
    refund_memo: row.refund?.memo ?? null,
    recipient_mac: row.recipient && macs.of(recipientPayee(row.id, last.to.id, row.recipient)),
    refund_mac: row.refund && macs.of(refundPayee(row.id, first.from.network, row.refund)),
    partner_fee_bps: row.partnerFeeBps,
    quoted_gross_units: row.quotedFees?.grossUnits.toString() ?? null,
    quoted_network_units: row.quotedFees?.networkUnits.toString() ?? null,
    rate_nonce: row.rate?.nonce ?? null,
    rate_expires_at: row.rate?.expiresAt ?? null,
    expiry_ms: row.expiryMs,
    fixed_lock_ms: row.fixedLockMs,
    fixed_inclusion_ms: row.fixedInclusionMs,
    plan: row.plan ?? null,
    external_id: row.externalId,
  }
}

function outcomes(
  batch: readonly NewExchange[],
  rows: readonly Inserted[],
  refused: ReadonlyMap<string, CreateOutcome> = new Map(),
): readonly CreateOutcome[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return batch.map((row) => {
    const earlier = refused.get(row.id)
    if (earlier) return earlier
    const inserted = byId.get(row.id)
    assert(inserted, `exchange ${row.id} has an outcome`)
    if (inserted.verdict !== 'created') return { kind: inserted.verdict }
    assert(inserted.created_at && inserted.expires_at, 'an inserted row has its times')
    return { kind: 'created', exchange: toCreated(row, inserted.created_at, inserted.expires_at, inserted.fixed_until) }
  })
}

function toCreated(row: NewExchange, createdAt: Date, expiresAt: Date, fixedUntil: Date | null): Exchange {
  const { id, partnerId, type, flow, legs, fromUnits, toUnits, deposit, recipient, refund, partnerFeeBps } = row
  const { estimate, fixedInclusionMs, externalId, quotedFees } = row
  return {
    id,
    partnerId,
    type,
    flow,
    legs,
    fromUnits,
    toUnits,
    estimate,
    deposit,
    recipient,
    refund,
    partnerFeeBps,
    quotedFees,
    status: 'pending',
    reason: null,
    createdAt,
    expiresAt,
    fixedUntil,
    fixedInclusionMs,
    isCancelled: false,
    externalId,
  }
}
