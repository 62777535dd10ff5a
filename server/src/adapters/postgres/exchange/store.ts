import type { Store, Stores, StoreTx } from '../../../exchange/ports/store/store.ts'
import { createControlStore } from '../core/controls.ts'
import type { Database, Sql } from '../core/database.ts'
import { createLedger } from '../core/ledger.ts'
import { wake } from '../core/wake.ts'
import { createAuditStore } from './audit.ts'
import { createChainLog } from './chain-log.ts'
import { createExchangeStore } from './exchanges.ts'
import { createFailureStore } from './failures.ts'
import { createInventoryStore } from './inventory.ts'
import { createOperatorStore } from './operator.ts'
import { createPayoutStore } from './payouts.ts'
import { createRecoveryStore } from './recovery.ts'
import { createLostPayoutStore } from './reversed-payouts.ts'
import { createSigningStore } from './signing-journal.ts'
import { createCaseStore } from './steps.ts'
import { createTransactionStore } from './transactions.ts'
import { createCustodyStore } from './wallets.ts'

/** The store over one database. Inside a transaction every `load` locks what it loads. */
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
    exchanges: createExchangeStore(sql, database),
    cases: createCaseStore(sql, locking),
    custody: createCustodyStore(sql),
    chainLog: createChainLog(sql),
    payouts: createPayoutStore(sql, locking),
    transactions: createTransactionStore(sql, locking),
    ledger: createLedger(sql),
    inventory: createInventoryStore(sql),
    controls: createControlStore(sql, locking),
    audit: createAuditStore(sql),
    failures: createFailureStore(sql),
    recovery: createRecoveryStore(sql, locking),
    lostPayouts: createLostPayoutStore(sql),
    operator: createOperatorStore(sql, locking),
    signing: createSigningStore(sql),
    wake: (jobs) => wake(sql, jobs),
  }
}
