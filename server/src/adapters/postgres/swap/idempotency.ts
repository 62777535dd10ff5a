import type { AssetId } from '../../../core/domain/asset.ts'
import { feesAccount } from '../../../core/domain/ledger/entries.ts'
import type { Account } from '../../../core/domain/ledger/journal.ts'
import { assert } from '../../../lib/assert.ts'
import type { SwapDesk } from '../../../swap/ports/store/swaps.ts'
import type { Database } from '../core/database.ts'
import { isOurs } from '../core/own-addresses.ts'

export function createSwapDesk(database: Database): SwapDesk {
  return {
    async findAnswer(partnerId, key) {
      // A key that a create of an exchange used is used: its request cannot be the same.
      const [row] = await database.query<{ request_hash: string; answer: string | null }>(
        `select request_hash, answer from kept_answers where partner_id = $1 and key = $2
         union all select request_hash, null from idempotency_keys where partner_id = $1 and key = $2 limit 1`,
        [partnerId, key],
      )
      return row === undefined ? null : { requestHash: row.request_hash, answer: row.answer }
    },
    async keepAnswer(partnerId, { key, requestHash, answer }) {
      // The update changes nothing: it makes the row that was there come back.
      const [row] = await database.query<{ request_hash: string; answer: string }>(
        `insert into kept_answers as k (partner_id, key, request_hash, answer) values ($1, $2, $3, $4)
         on conflict (partner_id, key) do update set answer = k.answer returning request_hash, answer`,
        [partnerId, key, requestHash, answer],
      )
      assert(row, 'an answer was kept')
      return { requestHash: row.request_hash, answer: row.answer }
    },
    async feeAddress(partnerId, network) {
      const [row] = await database.query<{ address: string }>(
        'select address from fee_addresses where partner_id = $1 and network = $2',
        [partnerId, network],
      )
      return row?.address ?? null
    },
    async setFeeAddress(partnerName, network, address) {
      const rows =
        address === null
          ? await database.query(
              `delete from fee_addresses f using partners p where p.id = f.partner_id and p.name = $1 and f.network = $2 returning 1`,
              [partnerName, network],
            )
          : await database.query(
              `insert into fee_addresses (partner_id, network, address) select id, $2, $3 from partners where name = $1
               on conflict (partner_id, network) do update set address = excluded.address returning 1`,
              [partnerName, network, address],
            )
      return rows.length > 0
    },
    async fees() {
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
    async feeDecimals(assetId) {
      const [row] = await database.query<{ decimals_out: number }>(
        'select decimals_out from swaps where fee_asset = $1 limit 1',
        [assetId],
      )
      return row?.decimals_out ?? null
    },
    isOurs: (address) => isOurs(database, address),
  }
}
