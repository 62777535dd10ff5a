import type { AssetId } from '../../../core/domain/asset.ts'
import {
  type SwapFee,
  swapFeeEntry,
  swapFeeFinalEntry,
  swapFeeReversalEntry,
} from '../../../core/domain/ledger/entries.ts'
import { present } from '../../../lib/assert.ts'
import { isUuid } from '../../../lib/id.ts'
import type { Expiry } from '../../../swap/domain/expiry.ts'
import type { Swap, SwapReason, SwapStatus } from '../../../swap/domain/swap.ts'
import type { NewSwap, SwapAdvance, SwapQuery, SwapStore, TrackedSwap } from '../../../swap/ports/store/swaps.ts'
import { blockOrNull, type Database, type Sql, unitsOrNull } from '../core/database.ts'
import { createLedger } from '../core/ledger.ts'

type Row = Readonly<{
  id: string
  partner_id: string
  network: string
  hash: string
  status: SwapStatus
  reason: SwapReason | null
  token_in: string
  decimals_in: number
  units_in: string
  token_out: string
  decimals_out: number
  expected_units: string
  min_units: string
  received_units: string | null
  sender: string
  nonce: string | null
  recipient: string
  fee_ppm: number
  fee_to: string | null
  expires_by: Expiry['by']
  expires_at: string | null
  raw: string | null
  block_height: string | null
  block_hash: string | null
  version: number
  external_id: string | null
  created_at: Date
  updated_at: Date
  seen_at: Date
}>

const COLUMNS = `s.id, s.partner_id, s.network, s.hash, s.status, s.reason, s.token_in, s.decimals_in, s.units_in, s.token_out,
  s.decimals_out, s.expected_units, s.min_units, s.received_units, s.sender, s.nonce, s.recipient, s.fee_ppm, s.fee_to, s.expires_by,
  s.expires_at, s.raw, s.block_height, s.block_hash, s.version, s.external_id, s.created_at, s.updated_at, s.seen_at`

/** Lists only swaps that the partner reported, not those that were only found on the chain. */
const FILTER = `s.partner_id = $1 and s.told and s.created_at >= statement_timestamp() - interval '24 hours'
  and ($2::text is null or s.status = $2) and ($3::text[] is null or s.token_in = any($3))
  and ($4::text[] is null or s.token_out = any($4)) and ($5::text is null or s.network = $5)
  and ($6::text[] is null or s.hash = any($6)) and ($7::text[] is null or s.sender = any($7))
  and ($8::text is null or s.external_id = $8)`

const filterValues = ({ partnerId, status, tokensIn, tokensOut, network, hashes, senders, externalId }: SwapQuery) => [
  partnerId,
  status ?? null,
  tokensIn ?? null,
  tokensOut ?? null,
  network ?? null,
  hashes ?? null,
  senders ?? null,
  externalId ?? null,
]

/** The process that records a swap broadcasts it. If it crashed in between, the tracker does after this time. */
const BROADCAST_WITHIN = "interval '3 seconds'"

export function createSwapStore(database: Database): SwapStore {
  return {
    record: (swap) => record(database, swap),
    async find(id) {
      if (!isUuid(id)) return null
      const [row] = await database.query<Row>(`select ${COLUMNS} from swaps s where s.id = $1`, [id], 'find-swap')
      return row === undefined ? null : toTracked(row)
    },
    async findByHash(partnerId, network, hash) {
      const [row] = await database.query<Row>(
        `select ${COLUMNS} from swaps s where s.network = $2 and s.hash = $3 and s.partner_id = $1`,
        [partnerId, network, hash],
      )
      return row === undefined ? null : toSwap(row)
    },
    async findReported(partnerId, key) {
      if ('id' in key && !isUuid(key.id)) return null
      const condition = 'id' in key ? 's.id = $2::uuid' : 's.hash = any($2::text[])'
      const [row] = await database.query<Row>(
        `select ${COLUMNS} from swaps s where s.partner_id = $1 and s.told and ${condition} limit 1`,
        [partnerId, 'id' in key ? key.id : key.hashes],
      )
      return row === undefined ? null : toSwap(row)
    },
    advance: (tracked, advance) => advanceSwap(database, tracked, advance),
    async list(query, after, limit, offset) {
      const rows = await database.query<Row>(
        `select ${COLUMNS} from swaps s
         where ${FILTER} and ($9::timestamptz is null or (s.created_at, s.id) < ($9, $10::uuid))
         order by s.created_at desc, s.id desc limit $11 offset $12`,
        [...filterValues(query), after?.createdAt ?? null, after?.id ?? null, limit, offset],
      )
      return rows.map(toSwap)
    },
    async count(query) {
      const [row] = await database.query<{ total: number }>(
        `select count(*)::int as total from swaps s where ${FILTER}`,
        filterValues(query),
      )
      return row?.total ?? 0
    },
  }
}

const INSERT = `insert into swaps as s (id, partner_id, network, hash, token_in, decimals_in, units_in, token_out, decimals_out,
    expected_units, min_units, sender, nonce, recipient, fee_ppm, fee_to, owes_fee, expires_by, expires_at, raw, told,
    external_id, next_check_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20::text, $21,
    coalesce($22, (select b.external_id from built_external_ids b where b.ref = $23 and b.partner_id = $2)),
    clock_timestamp() + case when $20::text is null then interval '0' else ${BROADCAST_WITHIN} end)`

/** Inserts a swap that was found on the chain and that its partner did not report. Its fee is booked like any other. */
export async function insertUnreportedSwap(tx: Sql, swap: NewSwap): Promise<void> {
  await tx.query(`${INSERT} on conflict (network, hash) do nothing`, valuesOf(swap, false))
}

/**
 * A swap that was rejected or dropped and is sent again becomes pending again: same bytes, same row. So does an expired one that is reported
 * by its hash alone, without bytes: a node has found it on the chain.
 */
async function record(database: Database, swap: NewSwap): Promise<TrackedSwap | null> {
  return database.transaction(async (tx) => {
    await tx.query(
      `update swaps set told = true, expected_units = $4, external_id = coalesce($5, external_id)
       where network = $1 and hash = $2 and partner_id = $3 and not told`,
      [swap.network, swap.hash, swap.partnerId, swap.to.units, swap.externalId],
    )
    await tx.query(
      `${INSERT}
       on conflict (network, hash) do update set status = 'pending', reason = null, raw = excluded.raw, seen_at = clock_timestamp(),
         next_check_at = excluded.next_check_at
       where s.partner_id = excluded.partner_id and s.status = 'failed'
         and (s.reason in ('rejected', 'dropped') or (s.reason = 'expired' and excluded.raw is null))`,
      valuesOf(swap, true),
    )
    const [row] = await tx.query<Row>(
      `select ${COLUMNS} from swaps s where s.network = $1 and s.hash = $2 and s.partner_id = $3`,
      [swap.network, swap.hash, swap.partnerId],
    )
    return row === undefined ? null : toTracked(row)
  })
}

const valuesOf = (swap: NewSwap, isReported: boolean) => [
  swap.id,
  swap.partnerId,
  swap.network,
  swap.hash,
  swap.from.token,
  swap.from.decimals,
  swap.from.units,
  swap.to.token,
  swap.to.decimals,
  swap.to.units,
  swap.minReceived,
  swap.sender,
  swap.nonce,
  swap.recipient,
  swap.feePpm,
  swap.feeTo,
  swap.owesFee,
  swap.expiry.by,
  swap.expiry.by === 'never' ? null : swap.expiry.at,
  swap.raw,
  isReported,
  swap.externalId,
  swap.ref,
]

async function advanceSwap(
  database: Database,
  { swap, version }: TrackedSwap,
  { progress, fee, isSeen, isSent, nextCheckMs }: SwapAdvance,
): Promise<boolean> {
  const { status, reason, receivedUnits, block, isFinal } = progress
  return database.transaction(async (tx) => {
    // No row: the swap is final, or another tracker changed it after this one read it.
    const [row] = await tx.query<BookedFeeRow>(
      `select owes_fee, fee_asset, fee_units, fee_bookings from swaps
       where id = $1 and version = $2 and next_check_at is not null for update`,
      [swap.id, version],
    )
    if (row === undefined) return false
    const booked = await bookFee(tx, swap, { row, fee: row.owes_fee ? fee : null, isFinal })
    await tx.query(
      `update swaps set status = $2, reason = $3, received_units = $4, block_height = $5, block_hash = $6,
         seen_at = case when $7 then clock_timestamp() else seen_at end, raw = case when $8 then null else raw end,
         next_check_at = case when $9 then null else clock_timestamp() + $10::bigint * interval '1 millisecond' end,
         fee_asset = $11, fee_units = $12, fee_bookings = $13
       where id = $1`,
      [
        swap.id,
        status,
        reason,
        receivedUnits,
        block?.height ?? null,
        block?.hash ?? null,
        isSeen,
        isSent,
        isFinal,
        Math.round(nextCheckMs),
        booked.fee?.assetId ?? null,
        booked.fee?.units ?? null,
        booked.bookings,
      ],
    )
    return true
  })
}

type BookedFeeRow = Readonly<{
  owes_fee: boolean
  fee_asset: AssetId | null
  fee_units: string | null
  fee_bookings: number
}>
type Fee = SwapAdvance['fee']

/** Posts the entries that change the booked fee to the given one: reversal, new booking, final. */
async function bookFee(
  tx: Sql,
  { id: swapId, partnerId, feeTo }: Swap,
  { row, fee, isFinal }: Readonly<{ row: BookedFeeRow; fee: Fee; isFinal: boolean }>,
): Promise<Readonly<{ fee: Fee; bookings: number }>> {
  const { post } = createLedger(tx)
  const of = ({ assetId, units }: NonNullable<Fee>, bookings: number): SwapFee => ({
    ...{ swapId, bookings, partnerId, feeTo: present(feeTo, 'the recipient of a fee'), assetId, units },
  })
  const { fee_asset: assetId, fee_units: units } = row
  const before: Fee = assetId === null || units === null ? null : { assetId, units: BigInt(units) }
  const isSame = before?.assetId === fee?.assetId && before?.units === fee?.units
  if (before !== null && !isSame) await post(swapFeeReversalEntry(of(before, row.fee_bookings)))
  const bookings = fee === null || isSame ? row.fee_bookings : row.fee_bookings + 1
  if (fee !== null && !isSame) await post(swapFeeEntry(of(fee, bookings)))
  if (fee !== null && isFinal) await post(swapFeeFinalEntry(of(fee, bookings)))
  return { fee, bookings }
}

function toTracked(row: Row): TrackedSwap {
  return { swap: toSwap(row), version: row.version, raw: row.raw, lastSeenAt: row.seen_at }
}

const expiryOf = ({ expires_by: by, expires_at: at }: Row): Expiry => (by === 'never' ? { by } : { by, at: Number(at) })

function toSwap(row: Row): Swap {
  return {
    id: row.id,
    partnerId: row.partner_id,
    network: row.network,
    hash: row.hash,
    status: row.status,
    reason: row.reason,
    from: { token: row.token_in, decimals: row.decimals_in, units: BigInt(row.units_in) },
    to: { token: row.token_out, decimals: row.decimals_out, units: BigInt(row.expected_units) },
    minReceived: BigInt(row.min_units),
    receivedUnits: unitsOrNull(row.received_units),
    sender: row.sender,
    nonce: row.nonce === null ? null : Number(row.nonce),
    recipient: row.recipient,
    feePpm: row.fee_ppm,
    feeTo: row.fee_to,
    expiry: expiryOf(row),
    block: blockOrNull(row.block_height, row.block_hash),
    externalId: row.external_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
