import type { Asset, AssetId } from '../../../core/domain/asset.ts'
import type { Account, JournalEntry } from '../../../core/domain/ledger/journal.ts'
import type { FinalityTag } from '../../../core/domain/network.ts'
import type { Job } from '../../../core/ports/jobs.ts'
import type { Exchange, ExchangeType, ExchangeView, Leg } from '../../domain/exchange.ts'
import type { PrivatePlan } from '../../domain/private-plan.ts'
import type { BlockRef, Destination, ScannedBlock, Transfer } from '../chain.ts'
import type { SignIntent } from '../signer.ts'
import type { Coin, KeyPath } from '../spend.ts'
import type { AuditStore } from './audit.ts'
import type { CreateOutcome } from './create-outcome.ts'
import type { Deposit, PayoutPurpose } from './execution.ts'
import type { FailureStore } from './failures.ts'
import type { OperatorStore, RecoveryStore } from './recovery.ts'
import type { LostPayoutStore } from './reversed-payouts.ts'
import type { SigningStore } from './signing-journal.ts'
import type { CaseStore } from './steps.ts'

/** Everything that lasts. `transaction` is all or nothing; the stores outside of it run one statement each. */
export interface Store extends Stores {
  transaction<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface StoreTx extends Stores {
  readonly inTransaction: true
}

export interface Stores {
  readonly exchanges: ExchangeStore
  readonly cases: CaseStore
  readonly custody: CustodyStore
  readonly chainLog: ChainLog
  readonly payouts: PayoutStore
  readonly transactions: TransactionStore
  readonly ledger: Ledger
  readonly inventory: InventoryStore
  readonly controls: ControlStore
  readonly audit: AuditStore
  readonly failures: FailureStore
  readonly recovery: RecoveryStore
  readonly lostPayouts: LostPayoutStore
  readonly operator: OperatorStore
  readonly signing: SigningStore
  /** Wakes steps: lost, doubled or late is harmless. In the caller's transaction where there is one. */
  readonly wake: (jobs: readonly Job[]) => Promise<void>
}

/** The exchange to be created; `keyIndex` is the derivation index of its deposit address. */
export type NewExchange = Readonly<{
  id: string
  partnerId: string
  type: ExchangeType
  flow: Exchange['flow']
  legs: readonly Leg[]
  fromUnits: bigint
  toUnits: bigint
  deposit: Destination
  keyIndex: number
  recipient: Destination | null
  refund: Destination | null
  partnerFeeBps: number
  rate: { nonce: string; expiresAt: Date } | null
  idempotency: { key: string; requestHash: string } | null
  expiryMs: number
  fixedLockMs: number | null
  plan?: PrivatePlan
}>

export type ExchangeQuery = Readonly<{
  partnerId: string
  status?: string
  exchangeType?: string
  fromCurrency?: string
  fromNetwork?: string
  toCurrency?: string
  toNetwork?: string
}>

export interface ExchangeStore {
  /** A batch in one transaction of its own: each row has its own outcome, all are answered after the commit. */
  create(batch: readonly NewExchange[]): Promise<readonly CreateOutcome[]>
  find(partnerId: string, id: string, type?: ExchangeType): Promise<ExchangeView | null>
  /** What was created under an idempotency key of the last 24 h, as it was answered. */
  findRepeated(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
  /** Rows of the last 24 h before `before`, newest first, at most `limit`; `total` counts all matches. */
  list(
    query: ExchangeQuery,
    after: { createdAt: Date; id: string } | null,
    limit: number,
    offset: number,
  ): Promise<readonly ExchangeView[]>
  count(query: ExchangeQuery): Promise<number>
  /** Open exchanges of a partner, counted up to `most`. */
  countOpen(partnerId: string, most: number): Promise<number>
  /** Derivation indices that no other exchange has or will have. */
  takeKeyIndexes(count: number): Promise<readonly number[]>
}

export type DepositChange = Readonly<{
  id: string
  status: Deposit['status']
  creditedUnits: bigint | null
  credits: number
  lost: boolean
}>

/** What the watchers record of the chains. */
export interface ChainLog {
  cursor(network: string): Promise<BlockRef | null>
  blockHash(network: string, height: number): Promise<string | null>
  /** Appends one block with everything of ours in it; wakes whom it concerns. False where the cursor had moved meanwhile. */
  append(network: string, block: ScannedBlock, rules: AppendRules): Promise<boolean>
  /** The first block of a network that was never watched. False where another watcher has begun meanwhile. */
  begin(network: string, block: Pick<ScannedBlock, 'height' | 'hash' | 'parentHash'>): Promise<boolean>
  /** Undoes every block above `height`. False where the cursor is not at `from` any more: another watcher was faster. */
  rewind(network: string, height: number, from: BlockRef): Promise<boolean>
  sight(network: string, transfers: readonly { txHash: string; address: string; memo: string | null }[]): Promise<void>
  /** Sightings that are in no block yet, oldest look first. */
  sightings(limit: number): Promise<readonly { network: string; txHash: string; exchangeId: string }[]>
  lookedAt(network: string, txHash: string, gone: boolean): Promise<void>
  saveDeposit(change: DepositChange): Promise<void>
}

export type AppendRules = Readonly<{
  /** The asset of a contract on this network (null = native); null where it is not listed. */
  assetOf: (contract: string | null) => Asset | null
  required: (assetId: AssetId | null, units: bigint) => { confirmations: number; tag: FinalityTag | null }
  /** Many share one address here and are told apart by memos: what has nobody's memo is no funding. */
  byMemo: boolean
  /** Of what the operator brings: nobody is paid for it, so its value does not matter. */
  fundingConfirmations: number
  /** Blocks kept below the head: at least twice the deepest depth that matters. */
  keep: number
  /** Coins are tracked one by one (bitcoin family). */
  coins: boolean
  /** How the chain names a coin of ours when it is spent. Absent: by the transfer's identity. */
  outpoint?: (transfer: Transfer, path: KeyPath) => string
}>

export type Payout = Readonly<{
  id: string
  exchangeId: string | null
  executionId: string | null
  depositId: string | null
  leg: number | null
  partnerId: string | null
  purpose: PayoutPurpose
  network: string
  assetId: AssetId
  from: KeyPath
  address: string
  memo: string | null
  units: bigint
  approved: boolean
  /** The venue order whose proceeds it pays. */
  orderId: string | null
  /** The account that owed a withdrawal before it was asked for; null = it is no pay-out of what is owed. */
  owedFrom: Account | null
  /** It had its confirmations once: its exchange is closed, and what it pays is owed beside it. */
  lost: boolean
  state: 'reserved' | 'signed' | 'confirmed' | 'void'
}>

export interface PayoutStore {
  /** `from: 'hot'` is the network's own wallet, by the key that it was registered with. */
  insert(
    payout: Omit<Payout, 'state' | 'partnerId' | 'approved' | 'orderId' | 'owedFrom' | 'lost' | 'from'> &
      Partial<Pick<Payout, 'owedFrom'>> & { from: 'hot' | KeyPath; heldMs?: number },
  ): Promise<void>
  /**
   * The queue of a network, oldest first; locked, and skipping what others hold, inside a transaction. Payouts and
   * refunds stand in it only while their deposit is counted and as deep as it must be, which their lock keeps so.
   */
  queue(network: string, limit: number): Promise<readonly Payout[]>
  ofTransaction(transactionId: string): Promise<readonly Payout[]>
  /** Whether the deposits that a transaction's payouts answer are counted still; locked, so that they stay so. */
  areBacked(transactionId: string): Promise<boolean>
  find(ids: readonly string[]): Promise<readonly Payout[]>
  sign(ids: readonly string[], transactionId: string): Promise<void>
  confirm(transactionId: string): Promise<void>
  /** Puts aside what is in the queue: for a while, or with `attention` for the operator. What was signed meanwhile stays signed. */
  putAside(ids: readonly string[], attention: string | null, heldMs: number | null): Promise<void>
  /** Younger ones of the same wallet and asset wait as long as these: filled again, the queue goes on in its order. */
  keepBehind(ids: readonly string[]): Promise<void>
  /** The payouts of a transaction that is proved dead are in the queue again, or with `attention` wait for the operator. */
  giveBack(transactionId: string, attention: string | null): Promise<void>
  /** Back in the queue by an operator's word: the limit of one transaction does not stop it again. */
  approve(id: string): Promise<void>
  /** False where it is reserved no more: somebody signed it meanwhile. */
  void(id: string): Promise<boolean>
}

export type Sweepable = Readonly<{
  network: string
  address: string
  keyIndex: number
  assetId: AssetId
  /** The largest of them, at most `SWEPT_MAX`. */
  deposits: readonly Readonly<{ id: string; units: bigint }>[]
  /** Where it stands among the others. */
  place: bigint
}>

/** Deposits that one sweep collects: one that leaves the chain takes the whole sweep with it. */
export const SWEPT_MAX = 100

/** Coins on their way into the hot wallets: deposits of account families, and what the operator brings. */
export interface CustodyStore {
  /** Credited deposits at least `depth` deep that lie on deposit addresses still, by address and asset. */
  sweepable(network: string, depth: number, limit: number, after: bigint): Promise<readonly Sweepable[]>
  /** False where one of them is swept by another payout already. */
  markSwept(depositIds: readonly string[], payoutId: string): Promise<boolean>
  /** Units of the deposits that a sweep collects. */
  sweptUnits(payoutId: string): Promise<bigint>
  /** Whether something of ours is on its way to this address. */
  supplying(network: string, address: string): Promise<boolean>
  /** The operator's transfers to hot wallets that are deep enough and not counted yet. */
  fundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** Key `index` of the hot branch is this network's wallet. Refused where the database knows another hot address. */
  registerHouse(network: string, address: string, index: number): Promise<void>
  registerAssets(assetIds: readonly AssetId[]): Promise<void>
}

export type Attempt = Readonly<{
  id: string
  txHash: string
  raw: string
  intent: SignIntent
  feeUnits: bigint
  state: 'signed' | 'replaced' | 'confirmed'
  block: BlockRef | null
  createdAt: Date
  sent: boolean
}>
export type OutgoingTransaction = Readonly<{
  id: string
  network: string
  from: KeyPath
  wallet: string
  conflictKey: string
  state: 'live' | 'confirmed' | 'final' | 'expired'
  createdAt: Date
  rival: string | null
  /** Bytes of others that a person brought: they make coins that it spends. */
  fundings: readonly string[]
  attempts: readonly Attempt[]
  head: number | null
  now: Date
}>

export interface TransactionStore {
  /** Takes the wallet's lane for this transaction and returns its next nonce (account families use it). */
  lockLane(network: string, wallet: string): Promise<number>
  /** Coins that may be spent now: ours, deep enough, credited, unreserved; the largest first, oldest among equals. */
  spendable(network: string, depth: number, limit: number): Promise<readonly Coin[]>
  nextChange(network: string, derive: (index: number) => string): Promise<{ index: number; address: string }>
  insert(transaction: {
    id: string
    network: string
    from: KeyPath
    wallet: string
    conflictKey: string
    resources: readonly string[]
    nonce: number | null
  }): Promise<void>
  addAttempt(
    transactionId: string,
    attempt: { txHash: string; raw: string; intent: SignIntent; feeUnits: bigint; coins: readonly string[] },
  ): Promise<void>
  /** Locked inside a transaction. */
  load(id: string): Promise<OutgoingTransaction | null>
  /** The most that the network may still take for what this wallet has signed, in units of its own coin. */
  unpaidFees(network: string, wallet: string): Promise<bigint>
  settle(id: string, outcome: TransactionOutcome): Promise<void>
}

export type TransactionOutcome =
  | { kind: 'check'; at: Date; sentAttemptId: string | null }
  | { kind: 'confirmed'; attemptId: string; checkAt: Date }
  | { kind: 'final' }
  /** Only with a proof; frees the resources. */
  | { kind: 'expired'; proof: Record<string, unknown> }

export interface Ledger {
  /** Writes the entry; a repeat of the same id is a no-op. True where it was new. */
  post(entry: JournalEntry): Promise<boolean>
  balance(account: Account, assetId: AssetId): Promise<bigint>
  /** What an exchange is owed of an asset beyond what is reserved or signed for it already. */
  unreserved(exchangeId: string, assetId: AssetId): Promise<bigint>
  entry(id: string): Promise<JournalEntry | null>
  /** All non-zero balances of an account, by asset. */
  balances(account: Account): Promise<ReadonlyMap<AssetId, bigint>>
}

export interface InventoryStore {
  /** What can still be promised of each asset. */
  available(): Promise<ReadonlyMap<AssetId, bigint>>
  /** Reserves, or says no. The same id again is the same reservation. `keepUnits` must stay for network fees. */
  reserve(id: string, assetId: AssetId, units: bigint, exchangeId: string, expiresInMs: number | null): Promise<boolean>
  release(id: string): Promise<bigint>
  releaseExpired(limit: number): Promise<number>
  order(order: {
    id: string
    executionId: string
    venue: string
    giveAsset: AssetId
    giveUnits: bigint
    takeAsset: AssetId
    takeUnits: bigint
  }): Promise<void>
  settleOrder(id: string, state: 'filled' | 'rejected' | 'unknown' | 'cancelled'): Promise<void>
}

export interface ControlStore {
  /** Scopes that are paused; inside a transaction no pause can commit between this read and the commit. */
  paused(scopes: readonly string[]): Promise<readonly string[]>
  pause(scope: string, reason: string, actor: string): Promise<void>
  resume(scope: string): Promise<void>
  /** Adds an outflow to the scopes' rolling windows, or names the limit that it would break. */
  takeLimit(
    payoutId: string,
    scopes: readonly string[],
    usd: bigint,
    limits: { hour: bigint; day: bigint },
  ): Promise<'hour' | 'day' | null>
  /** These payouts do not go now: the windows have their room again. */
  giveBackLimit(payoutIds: readonly string[]): Promise<void>
  raise(subject: string, alarm: string, detail: Record<string, unknown>): Promise<void>
  clear(...subjects: readonly string[]): Promise<void>
  due(limit: number): Promise<readonly Job[]>
  /** Forgets what is only kept for a day: idempotency keys, outflows. */
  forget(): Promise<void>
}
