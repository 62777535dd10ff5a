import { createStatementStore } from '../adapters/postgres/core/statements.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { createPartnerAccount, type PartnerAccount } from '../core/services/partner-account.ts'
import type { SharedDependencies } from './workers.ts'

/** What partners read about themselves. Fees of swaps may be in tokens that are not listed. */
export function createOwnAccount({
  store,
  catalogue,
  database,
}: Pick<SharedDependencies, 'store' | 'catalogue' | 'database'>): PartnerAccount {
  const listed = new Map(catalogue.list().map(({ asset }) => [asset.id, asset.decimals]))
  const { listDecimals } = createFeeAccounts(database)
  return createPartnerAccount({
    ledger: store.ledger,
    statements: createStatementStore(database),
    async readDecimals(assetIds) {
      const others = assetIds.filter((assetId) => !listed.has(assetId))
      return others.length === 0 ? listed : new Map([...listed, ...(await listDecimals(others))])
    },
    countOpen: store.exchanges.countOpen,
  })
}
