import type { AssetId } from '../../../core/domain/asset.ts'
import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { AppendRules, InFlight } from '../../../exchange/ports/store/chain-log.ts'
import type { Sql } from '../core/database.ts'

type Incoming = Readonly<{
  transfer: Transfer
  target: Readonly<{ exchange_id: string; leg: number }> | null
  isStray: boolean
}>

/**
 * What the partner of each exchange has in flight on this network, in these deposits and in those of the newest blocks. A
 * reorganisation would remove all of them together, so confirmations by value count their sum.
 */
export async function readInFlight(
  sql: Sql,
  network: string,
  height: number,
  rules: AppendRules,
  incoming: readonly Incoming[],
): Promise<ReadonlyMap<string, InFlight>> {
  const deposits = incoming.flatMap(({ transfer, target, isStray }) => {
    const asset = isStray ? null : rules.assetOf(transfer.contract)
    return target?.leg === 0 && asset !== null
      ? [{ exchangeId: target.exchange_id, assetId: asset.id, units: transfer.units }]
      : []
  })
  if (deposits.length === 0) return new Map()
  const exchangeIds = [...new Set(deposits.map(({ exchangeId }) => exchangeId))]
  const exchanges = await sql.query<{ id: string; partner_id: string }>(
    'select id, partner_id from exchanges where id = any($1::uuid[])',
    [exchangeIds],
  )
  const partnerOf = new Map(exchanges.map(({ id, partner_id }) => [id, partner_id]))
  const recorded = await sql.query<{ partner_id: string; asset_id: AssetId; units: string }>(
    `select e.partner_id, d.asset_id, sum(d.units) as units from deposits d join exchanges e on e.id = d.exchange_id
     where d.network = $1 and d.block_height > $2 - $3::int and d.leg = 0 and d.asset_id is not null
       and d.status in ('seen', 'credited') and e.partner_id = any($4::uuid[]) group by 1, 2`,
    [network, height, rules.inFlightBlocks, [...new Set(partnerOf.values())]],
  )
  const sums = new Map<string, Map<AssetId, bigint>>()
  const add = (partnerId: string, assetId: AssetId, units: bigint) => {
    const byAsset = sums.get(partnerId) ?? new Map<AssetId, bigint>()
    sums.set(partnerId, byAsset.set(assetId, (byAsset.get(assetId) ?? 0n) + units))
  }
  for (const { partner_id, asset_id, units } of recorded) add(partner_id, asset_id, BigInt(units))
  for (const { exchangeId, assetId, units } of deposits) add(partnerOf.get(exchangeId) ?? '', assetId, units)
  const byPartner = new Map(
    [...sums].map(([partnerId, byAsset]) => [partnerId, [...byAsset].map(([assetId, units]) => ({ assetId, units }))]),
  )
  return new Map(exchangeIds.map((id) => [id, byPartner.get(partnerOf.get(id) ?? '') ?? []]))
}
