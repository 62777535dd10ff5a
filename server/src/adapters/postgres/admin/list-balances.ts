import type { AdminLists } from '../../../admin/ports/lists.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import { feesAccount, partnerAccount } from '../../../core/domain/ledger/entries.ts'
import type { Sql } from '../core/database.ts'
import { listedDecimals } from './format-amount.ts'
import { placeOfText, readNumber, readText, toRows } from './keyset.ts'

/** Decimals of a token in which swaps paid fees; null of any other. */
const DECIMALS = '(select s.decimals_out from swaps s where s.fee_asset = b.asset_id limit 1) as decimals'

type Row = Readonly<{ account: string; currency: string; units: string; decimals: number | null }>
type Lists = Pick<AdminLists, 'balances' | 'swapFees' | 'unclaimedFees'>

/** What we hold and owe in any number of tokens: anybody can swap tokens of their own, with a fee. */
export function createBalanceLists(sql: Sql): Lists {
  return {
    async balances(partnerId, { cursor, limit }) {
      const rows = await sql.query<Row>(
        `select b.account, b.asset_id as currency, -b.units as units, ${DECIMALS} from balances b
         where b.account = $1 and b.asset_id > $2 and b.units <> 0 order by b.asset_id limit $3`,
        [partnerAccount(partnerId), readText(cursor) ?? '', limit + 1],
      )
      const shown = rows.map((row) => ({
        ...{ currency: row.currency, amount: toAmount(row) },
        position: placeOfText(row.currency),
      }))
      return toRows(shown, limit)
    },
    async swapFees({ cursor, limit }) {
      const [account = '', currency = ''] = readText(cursor)?.split('\n') ?? []
      const rows = await sql.query<Row>(
        `select b.account, b.asset_id as currency, b.units, ${DECIMALS} from balances b
         where starts_with(b.account, 'asset:fees:') and (b.account, b.asset_id) > ($1, $2) and b.units > 0
         order by b.account, b.asset_id limit $3`,
        [account, currency, limit + 1],
      )
      const shown = rows.map((row) => ({
        ...{ address: row.account.slice(feesAccount('').length), currency: row.currency, amount: toAmount(row) },
        position: placeOfText(`${row.account}\n${row.currency}`),
      }))
      return toRows(shown, limit)
    },
    async unclaimedFees({ cursor, limit }) {
      // Not an anti join: the planner expects a swap for every fee, and would read all fees.
      const rows = await sql.query<Readonly<Record<string, unknown>> & { position: string }>(
        `select u.id::text as position, u.network, u.hash, u.log_index as "logIndex", u.block_height::float8 as height, u.ref,
           u.sender, u.token, u.units, u.fee_to as "feeTo", u.executor from unclaimed_fees u
         where ($1::bigint is null or u.id < $1::bigint)
           and coalesce((select false from swaps s where s.network = u.network and s.hash = u.hash), true)
         order by u.id desc limit $2`,
        [readNumber(cursor), limit + 1],
      )
      return toRows(rows, limit)
    },
  }
}

const toAmount = ({ units, currency, decimals }: Row): string =>
  formatUnits(BigInt(units), decimals ?? listedDecimals(currency) ?? 0)
