import type { Job } from '../../../core/ports/jobs.ts'
import type { CoreStores } from '../../../core/ports/store/store.ts'
import type { ChainLog } from './chain-log.ts'
import type { ExchangeStore } from './exchanges.ts'
import type { InventoryStore } from './inventory.ts'
import type { JobStore } from './jobs.ts'
import type { MonthlyPayoutStore } from './monthly-payouts.ts'
import type { OperatorStore } from './operator.ts'
import type { OutflowStore } from './outflow.ts'
import type { OutputStore } from './outputs.ts'
import type { PayoutStore } from './payouts.ts'
import type { ReconciliationStore } from './reconciliation.ts'
import type { RecoveryStore } from './recovery.ts'
import type { ReportStore } from './reports.ts'
import type { RescanStore } from './rescans.ts'
import type { ReversedPayoutStore } from './reversed-payouts.ts'
import type { SigningJournalStore } from './signing-journal.ts'
import type { StepStore } from './steps.ts'
import type { TransactionStore } from './transactions.ts'
import type { WalletStore } from './wallets.ts'

/** The database. `transaction` is all or nothing; outside of it each call is one statement. */
export interface Store extends Stores {
  transaction<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface StoreTx extends Stores {
  readonly inTransaction: true
}

export interface Stores extends CoreStores {
  readonly exchanges: ExchangeStore
  readonly steps: StepStore
  readonly wallets: WalletStore
  readonly chainLog: ChainLog
  readonly payouts: PayoutStore
  readonly transactions: TransactionStore
  readonly inventory: InventoryStore
  readonly outflow: OutflowStore
  readonly outputs: OutputStore
  readonly jobs: JobStore
  readonly reconciliation: ReconciliationStore
  readonly recovery: RecoveryStore
  readonly reports: ReportStore
  readonly rescans: RescanStore
  readonly reversedPayouts: ReversedPayoutStore
  readonly operator: OperatorStore
  readonly monthlyPayouts: MonthlyPayoutStore
  readonly signingJournal: SigningJournalStore
  /** Wakes jobs, in the caller's transaction if there is one. Lost, repeated and late wake-ups are harmless (I-16). */
  readonly wake: (jobs: readonly Job[]) => Promise<void>
}
