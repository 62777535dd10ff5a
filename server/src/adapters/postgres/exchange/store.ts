import type { Store, Stores, StoreTx } from '../../../exchange/ports/store/store.ts'
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

/** The exchange store on one database. Inside a transaction, `load` locks the row that it reads. */
export function createStore(database: Database): Store {
  return {
    ...stores(database, database, false),
    transaction: (work) =>
      database.transaction((tx) => work({ ...stores(tx, database, true), inTransaction: true } satisfies StoreTx)),
    close: () => database.close(),
  }
}

function stores(sql: Sql, database: Database, locking: boolean): Stores {
  return {
    alarms: createAlarmStore(sql),
    auditLog: createAuditLog(sql),
    ledger: createLedger(sql),
    pauses: createPauseStore(sql, locking),
    exchanges: createExchangeStore(sql, database),
    steps: createStepStore(sql, locking),
    wallets: createWalletStore(sql),
    chainLog: createChainLog(sql),
    payouts: createPayoutStore(sql, locking),
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
    operator: createOperatorStore(sql, locking),
    signingJournal: createSigningStore(sql),
    wake: (jobs) => wake(sql, jobs),
  }
}
