import type { AdminActionName, AdminArguments } from '@swapyard/schema'
import type { Environment, Network } from '../../core/domain/network.ts'
import type { AuditNote } from '../../core/services/audit-note.ts'
import type { MaxNetworkFees } from '../../exchange/domain/free-capital.ts'
import type { OutputSettings } from '../../exchange/domain/output-plan.ts'
import type { Addresses } from '../../exchange/ports/chain.ts'
import type { MarketDeps } from '../../exchange/settlement/steps/context.ts'
import type { SwapNetwork } from '../../swap/networks.ts'
import type { OperatorSecrets } from '../identity/operator-secrets.ts'
import type { AdminStores } from '../ports/admin-store.ts'

/** What actions need beside the database. */
export type ActionDeps = Readonly<{
  environment: Environment
  /** As `network:address`. */
  coldAddresses: readonly string[]
  outputs: OutputSettings
  partnerDefaults: Readonly<{ feeBps: number; openExchangesMax: number; rateLimitPerMinute: number }>
  pepper: Uint8Array
  secrets: OperatorSecrets
  /** By network; derived from public keys, without a node. */
  addresses(): ReadonlyMap<string, Readonly<{ network: Network; addresses: Addresses }>>
  /** The highest network fees that workers pay. */
  maxFeesOf(network: string): MaxNetworkFees
  /** A hash or an address in the forms in which it may be stored. */
  encodingsOf(text: string): readonly string[]
  /** Whether the deny list permits the address. */
  isAllowed(network: string, address: string): Promise<boolean>
  /** An account of a network that has swaps and no wallets of ours; null if it is not one. */
  parseSwapAccount(network: string, address: string): string | null
  /** The name of a pool or token of a swap network as routes have it; null if it is not one. */
  parsePoolName(network: string, kind: 'pool' | 'token', text: string): Promise<string | null>
  /** Prices, fees and listings of this moment; null on the command line of the server, which follows none. */
  market: MarketDeps | null
  swaps(): Promise<Readonly<{ networks: ReadonlyMap<string, SwapNetwork>; feeAddresses: ReadonlyMap<string, string> }>>
}>

/** An action in progress: everything happens in one transaction of the database. */
export type ActionContext = AdminStores &
  Readonly<{
    deps: ActionDeps
    note: AuditNote
    /** The transaction is rolled back afterwards. What a rollback does not undo, such as a step of a sequence, must not be done. */
    isRehearsal: boolean
  }>

export type ActionResult = Readonly<Record<string, unknown>>

type Shown = Readonly<Record<string, string>>

/** What is stored until the action is carried out, and secrets that only the operator who asks sees, once. */
export type Prepared = Readonly<{ arguments: Readonly<Record<string, unknown>>; shown: Shown }>

export type ActionDefinition<Arguments> = Readonly<{
  /** For actions that make a secret: its hash becomes an argument. */
  prepare?(deps: ActionDeps, given: Arguments): Prepared
  /**
   * For actions whose secret needs both persons: makes its second half when the action is carried out, for who approves. `first`
   * is what the same person was shown before, null if another one was.
   */
  prepareApproval?(given: Arguments, first: Shown | null): Prepared
  run(context: ActionContext, given: Arguments): Promise<ActionResult>
  /**
   * Members of its rows in the audit log that may change until a second person approves: balances, and what is made when the action
   * is carried out. All others must be as they were when it was asked for.
   */
  unbound?: readonly string[]
  /** After the commit. It may fail without harm. */
  afterCommit?(stores: AdminStores): Promise<ActionResult>
}>

export type ActionsOf<Name extends AdminActionName> = Readonly<{ [Key in Name]: ActionDefinition<AdminArguments<Key>> }>
