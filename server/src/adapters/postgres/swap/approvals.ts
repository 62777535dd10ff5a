import type { BuiltApproval, BuiltApprovals } from '../../../swap/ports/store/approvals.ts'
import { type Database, hasRow } from '../core/database.ts'

export function createBuiltApprovals(database: Database): BuiltApprovals {
  const values = ({ partnerId, network, account, token, units }: BuiltApproval) => [
    partnerId,
    network,
    account,
    token,
    units,
  ]
  return {
    async save(approval) {
      await database.query(
        `insert into built_approvals (partner_id, network, account, token, units) values ($1, $2, $3, $4, $5)
         on conflict (partner_id, network, account, token, units) do update set built_at = statement_timestamp()`,
        values(approval),
      )
    },
    has: (approval) =>
      hasRow(
        database,
        `select 1 from built_approvals where partner_id = $1 and network = $2 and account = $3 and token = $4 and units = $5
         and built_at >= statement_timestamp() - interval '24 hours'`,
        values(approval),
      ),
  }
}
