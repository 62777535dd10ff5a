import type { PayeeMacs } from '../../../exchange/ports/payee-macs.ts'
import type { Store, Stores, StoreTx } from '../../../exchange/ports/store/store.ts'
import { InvariantError } from '../../../lib/assert.ts'
import { createAlarmStore } from '../core/alarms.ts'
import { createAuditLog } from '../core/audit-log.ts'
import type { Database, Sql } from '../core/database.ts'
import { createLedger } from '../core/ledger.ts'
import { createPauseStore } from '../core/pauses.ts'
import { wake } from '../core/wake.ts'
import { createChainLog } from './chain-log.ts'
import { createExchangeStore } from './exchanges.ts'
import { createInventoryStore } from './inventory.ts'
import { createJobStore } from './jobs.ts'
import { createMonthlyPayoutStore } from './monthly-payouts.ts'
import { createOperatorStore } from './operator.ts'
import { createOutflowStore } from './outflow.ts'
import { createOutputStore } from './outputs.ts'
import { createPayoutStore } from './payouts.ts'
import { createReconciliationStore } from './reconciliation.ts'
import { createRecoveryStore } from './recovery.ts'
import { createReportStore } from './reports.ts'
import { createRescanStore } from './rescans.ts'
import { createReversedPayoutStore } from './reversed-payouts.ts'
import { createSigningStore } from './signing-journal.ts'
import { createStepStore } from './steps.ts'
import { createTransactionStore } from './transactions.ts'
import { createWalletStore } from './wallets.ts'

/**
 * The exchange store on one database. Inside a transaction, `load` locks the row that it reads. Without `macs` it writes no
 * payee and takes none for authentic, which suffices for most commands of the operator.
 */
export function createStore(database: Database, macs: PayeeMacs = withoutKey): Store {
  return {
    ...stores(database, database, false, macs),
    transaction: (work) =>
      database.transaction((tx) =>
        work({ ...stores(tx, database, true, macs), inTransaction: true } satisfies StoreTx),
      ),
    close: () => database.close(),
  }
}

const withoutKey: PayeeMacs = {
  of: () => {
    throw new InvariantError('a payee is written with its authentication code')
  },
  isValid: () => false,
}

function stores(sql: Sql, database: Database, locking: boolean, macs: PayeeMacs): Stores {
  return {
    alarms: createAlarmStore(sql),
    auditLog: createAuditLog(sql),
    ledger: createLedger(sql),
    pauses: createPauseStore(sql, locking),
    exchanges: createExchangeStore(sql, database, macs),
    steps: createStepStore(sql, locking, macs),
    wallets: createWalletStore(sql, locking),
    chainLog: createChainLog(sql, macs),
    payouts: createPayoutStore(sql, locking, macs),
    transactions: createTransactionStore(sql, locking),
    inventory: createInventoryStore(sql),
    outflow: createOutflowStore(sql),
    outputs: createOutputStore(sql),
    jobs: createJobStore(sql),
    reconciliation: createReconciliationStore(sql, database),
    recovery: createRecoveryStore(sql, locking),
    reports: createReportStore(database),
    rescans: createRescanStore(sql),
    reversedPayouts: createReversedPayoutStore(sql),
    operator: createOperatorStore(sql, locking, macs),
    monthlyPayouts: createMonthlyPayoutStore(sql),
    signingJournal: createSigningStore(sql),
    wake: (jobs) => wake(sql, jobs),
  }
}
