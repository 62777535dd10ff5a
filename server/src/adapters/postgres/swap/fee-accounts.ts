import type { AssetId } from '../../../core/domain/asset.ts'
import type { Account } from '../../../core/domain/ledger/chart.ts'
import { feesAccount } from '../../../core/domain/ledger/entries.ts'
import type { FeeAccounts } from '../../../swap/ports/store/fee-accounts.ts'
import { type Database, hasRow } from '../core/database.ts'
import { createOwnFeeAddresses } from './own-fee-addresses.ts'

export function createFeeAccounts(database: Database): FeeAccounts {
  return {
    ...createOwnFeeAddresses(database),
    setAddress: (partnerName, network, address) =>
      address === null
        ? hasRow(
            database,
            `delete from fee_addresses f using partners p where p.id = f.partner_id and p.name = $1 and f.network = $2 returning 1`,
            [partnerName, network],
          )
        : hasRow(
            database,
            `insert into fee_addresses (partner_id, network, address) select id, $2, $3 from partners where name = $1
             on conflict (partner_id, network) do update set address = excluded.address, next_address = null, next_from = null,
               asked_by = null, asked_at = null returning 1`,
            [partnerName, network, address],
          ),
    async listHeldFees() {
      const rows = await database.query<{ account: Account; asset_id: AssetId; units: string }>(
        'select account, asset_id, units from balances where starts_with(account, $1) order by account, asset_id',
        [feesAccount('')],
      )
      return rows.map(({ account, asset_id: assetId, units }) => ({
        address: account.slice(feesAccount('').length),
        assetId,
        units: BigInt(units),
      }))
    },
    async findDecimals(assetId) {
      const [row] = await database.query<{ decimals_out: number }>(
        'select decimals_out from swaps where fee_asset = $1 limit 1',
        [assetId],
      )
      return row?.decimals_out ?? null
    },
    async listDecimals(assetIds) {
      const rows = await database.query<{ assetId: AssetId; decimals: number }>(
        `select a.id as "assetId", s.decimals_out as decimals from unnest($1::text[]) a (id)
         cross join lateral (select decimals_out from swaps where fee_asset = a.id limit 1) s`,
        [assetIds],
      )
      return new Map(rows.map(({ assetId, decimals }) => [assetId, decimals]))
    },
  }
}
