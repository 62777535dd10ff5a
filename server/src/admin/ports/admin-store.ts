import type { ListedAct } from '../../core/ports/store/audit-log.ts'
import type { PartnerStore } from '../../core/ports/store/partners.ts'
import type { WebhookStore } from '../../events/ports/store.ts'
import type { Store } from '../../exchange/ports/store/store.ts'
import type { FeeAccounts } from '../../swap/ports/store/fee-accounts.ts'
import type { SwapFeeStore } from '../../swap/ports/store/swap-fees.ts'
import type { AdminLists } from './lists.ts'
import type { OperatorStore } from './operators.ts'
import type { RequestStore } from './requests.ts'
import type { LoginThrottle, SessionStore } from './sessions.ts'

/** What actions and reads of operators use. Inside a transaction, `store.transaction` is the same transaction. */
export type AdminStores = Readonly<{
  store: Store
  partners: PartnerStore
  feeAccounts: FeeAccounts
  swapFees: SwapFeeStore
  webhooks: Pick<WebhookStore, 'setDisabled' | 'redeliver'>
  operators: OperatorStore
  sessions: SessionStore
  requests: RequestStore
  isOwnAddress(address: string): Promise<boolean>
  /** Until the commit, so that the state before in the audit log is what the action changes. */
  lockRow(kind: 'partner' | 'key' | 'operator', name: string): Promise<void>
  /** Rows for the audit log, without secrets. */
  partnerRow(name: string): Promise<Record<string, unknown> | null>
  keyRow(keyId: string): Promise<Record<string, unknown> | null>
  webhookRow(id: string): Promise<Record<string, unknown> | null>
  /** Rows of the audit log that this transaction has written. */
  ownActs(): Promise<readonly ListedAct[]>
}>

export interface AdminStore extends AdminStores {
  readonly lists: AdminLists
  readonly logins: LoginThrottle
  transaction<T>(work: (tx: AdminStores) => Promise<T>): Promise<T>
}
