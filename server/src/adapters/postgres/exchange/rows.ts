import type { Asset, AssetId } from '../../../core/domain/asset.ts'
import type { FinalityTag } from '../../../core/domain/network.ts'
import {
  type ConfirmationsView,
  countConfirmations,
  type Estimate,
  type Exchange,
  type ExchangeStatus,
  type ExchangeType,
  type ExchangeView,
  type ExecutionView,
  type Leg,
  type QuotedFees,
  type RefundView,
  type StatusReason,
} from '../../../exchange/domain/exchange.ts'
import { shownState } from '../../../exchange/domain/shown-state.ts'
import type { KeyPath, Utxo } from '../../../exchange/ports/spend.ts'
import type { Deposit } from '../../../exchange/ports/store/execution.ts'
import { blockOrNull, memoOrNull, unitsOrNull } from '../core/database.ts'

/** Converts rows of exchanges, executions and deposits to domain values. `numeric` and `int8` arrive as text. */

export type ExchangeRow = {
  id: string
  partner_id: string
  type: ExchangeType
  flow: Exchange['flow']
  legs: { from: Asset; to: Asset }[]
  from_units: string
  to_units: string
  estimate: Estimate | null
  address: string
  memo: string
  recipient_address: string | null
  recipient_memo: string | null
  refund_address: string | null
  refund_memo: string | null
  partner_fee_bps: number
  quoted_gross_units: string | null
  quoted_network_units: string | null
  status: ExchangeStatus
  reason: StatusReason | null
  created_at: Date
  expires_at: Date
  fixed_until: Date | null
  fixed_inclusion_ms: string | null
  cancelled_at: Date | null
  external_id: string | null
}

/** Columns of `deposits`. */
export type DepositRow = {
  network: string
  identity: string
  chain_identity: string | null
  returned_units: string | null
  returned_height: string | null
  returned_hash: string | null
  tx_hash: string
  address: string
  memo: string
  asset_id: AssetId | null
  contract: string | null
  units: string
  sender: string | null
  block_height: string | null
  block_hash: string | null
  orphaned_at: Date | null
  first_seen_at: Date
  included_at: Date
  required_confirmations: number
  required_tag: FinalityTag | null
  unclaimed: boolean
  credited_units: string | null
  credits: number
}

/** The columns of `DepositRow`. A prepared statement names its columns, because it fails after a migration adds one to `d.*`. */
export const DEPOSIT_COLUMNS = `d.network, d.identity, d.chain_identity, d.returned_units, d.returned_height, d.returned_hash,
  d.tx_hash, d.address, d.memo, d.asset_id, d.contract, d.units, d.sender, d.block_height, d.block_hash, d.orphaned_at,
  d.first_seen_at, d.included_at, d.required_confirmations, d.required_tag, d.unclaimed, d.credited_units, d.credits`

export type ExecutionViewRow = {
  leg: number
  status: ExchangeStatus
  reason: StatusReason | null
  received: string | null
  sent: string | null
  payin: string | null
  payout: string | null
  refund: { asset: AssetId; units: string; address: string; memo: string; hash: string | null } | null
  created: string
  network: string
  height: number | null
  required: number
  head: number | null
}

export const exchangeColumns = `e.id, e.partner_id, e.type, e.flow, e.legs, e.from_units, e.to_units, e.estimate, t.address, t.memo,
  e.recipient_address, e.recipient_memo, e.refund_address, e.refund_memo, e.partner_fee_bps,
  e.quoted_gross_units, e.quoted_network_units, e.status, e.reason,
  e.created_at, e.expires_at, e.fixed_until, e.fixed_inclusion_ms, e.cancelled_at, e.external_id`

/** Executions in a response, the latest: anyone can send an exchange any number of deposits. */
const SHOWN_MAX = 100

/** The executions of a response, in the order of their deposits. */
export const executionsColumn = `(select json_agg(json_build_object('leg', x.leg, 'status', x.status, 'reason', x.reason,
  'received', x.received_units::text, 'sent', x.sent_units::text, 'payin', x.payin_hash, 'payout', x.payout_hash,
  'refund', case when r.id is not null then json_build_object('asset', r.asset_id, 'units', r.units::text,
    'address', r.address, 'memo', r.memo, 'hash', case when r.transaction_id is not null then x.payout_hash end) end,
  'created', x.created_at, 'network', d.network, 'height', d.block_height, 'required', d.required_confirmations,
  'head', c.height) order by x.leg, x.deposit_id)
  from (select * from executions where exchange_id = e.id order by leg desc, deposit_id desc limit ${SHOWN_MAX}) x
  join deposits d on d.id = x.deposit_id
  left join cursors c on c.network = d.network
  left join payouts r on r.execution_id = x.id and r.purpose = 'refund' and r.state <> 'void') as executions`

export const destination = (address: string | null, memo: string | null) =>
  address === null ? null : { address, memo }

export function toExchange(row: ExchangeRow): Exchange {
  return {
    id: row.id,
    partnerId: row.partner_id,
    type: row.type,
    flow: row.flow,
    legs: row.legs as Leg[],
    fromUnits: BigInt(row.from_units),
    toUnits: BigInt(row.to_units),
    estimate: row.estimate,
    deposit: { address: row.address, memo: memoOrNull(row.memo) },
    recipient: destination(row.recipient_address, row.recipient_memo),
    refund: destination(row.refund_address, row.refund_memo),
    status: row.status,
    reason: row.reason,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    fixedUntil: row.fixed_until,
    fixedInclusionMs: row.fixed_inclusion_ms === null ? null : Number(row.fixed_inclusion_ms),
    isCancelled: row.cancelled_at !== null,
    externalId: row.external_id,
    partnerFeeBps: row.partner_fee_bps,
    quotedFees: toQuotedFees(row),
  }
}

function toQuotedFees({ quoted_gross_units: gross, quoted_network_units: network }: ExchangeRow): QuotedFees | null {
  return gross === null || network === null ? null : { grossUnits: BigInt(gross), networkUnits: BigInt(network) }
}

export function toExchangeView(row: ExchangeRow & { executions: ExecutionViewRow[] | null }): ExchangeView {
  const exchange = toExchange(row)
  const executions = (row.executions ?? []).map(toExecutionView)
  const { status, reason } = shownState(exchange, executions)
  return { exchange: { ...exchange, status, reason }, executions }
}

function toExecutionView(row: ExecutionViewRow): ExecutionView {
  return {
    leg: row.leg,
    status: row.status,
    reason: row.reason,
    receivedUnits: unitsOrNull(row.received),
    sentUnits: unitsOrNull(row.sent),
    payinHash: row.payin,
    payoutHash: row.payout,
    refund: row.refund === null ? null : toRefund(row.refund),
    createdAt: new Date(row.created),
    confirmations: toConfirmations(row),
  }
}

function toConfirmations({ network, height, required, head }: ExecutionViewRow): ConfirmationsView {
  return { network, height, required, seen: countConfirmations(height, head, required) }
}

function toRefund({ asset, units, address, memo, hash }: NonNullable<ExecutionViewRow['refund']>): RefundView {
  return { assetId: asset, units: BigInt(units), address, memo: memoOrNull(memo), txHash: hash }
}

export function toDeposit(row: DepositRow, fields: Pick<Deposit, 'id' | 'status' | 'isBookedAsLoss'>): Deposit {
  return {
    ...fields,
    network: row.network,
    identity: row.chain_identity ?? row.identity,
    txHash: row.tx_hash,
    address: row.address,
    memo: memoOrNull(row.memo),
    assetId: row.asset_id,
    contract: row.contract,
    units: BigInt(row.units),
    sender: row.sender,
    block: blockOrNull(row.block_height, row.block_hash),
    orphaned: row.orphaned_at !== null,
    firstSeenAt: row.first_seen_at,
    includedAt: row.included_at,
    requiredConfirmations: row.required_confirmations,
    requiredTag: row.required_tag,
    unclaimed: row.unclaimed,
    returned: toReturned(row),
    creditedUnits: unitsOrNull(row.credited_units),
    credits: row.credits,
  }
}

function toReturned({ returned_units, returned_height, returned_hash }: DepositRow): Deposit['returned'] {
  const [units, block] = [unitsOrNull(returned_units), blockOrNull(returned_height, returned_hash)]
  return units === null || block === null ? null : { units, block }
}

export type UtxoRow = { outpoint: string; units: string; branch: KeyPath['branch']; key_index: string }

export const toUtxo = ({ outpoint, units, branch, key_index }: UtxoRow): Utxo => ({
  outpoint,
  units: BigInt(units),
  path: { branch, index: Number(key_index) },
})
