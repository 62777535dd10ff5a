import type { AlarmStore } from './alarms.ts'
import type { AuditLog } from './audit-log.ts'
import type { Ledger } from './ledger.ts'
import type { PauseStore } from './pauses.ts'

/** The stores that both halves use. */
export interface CoreStores {
  readonly alarms: AlarmStore
  readonly auditLog: AuditLog
  readonly ledger: Ledger
  readonly pauses: PauseStore
}

/** `transaction` is all or nothing; outside of it each call is one statement. */
export interface CoreStore extends CoreStores {
  transaction<T>(work: (tx: CoreStores) => Promise<T>): Promise<T>
}
