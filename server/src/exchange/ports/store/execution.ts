import type { AssetId } from '../../../core/domain/asset.ts'
import type { FinalityTag } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ExchangeStatus, StatusReason } from '../../domain/exchange.ts'
import type { Decision } from '../../domain/lifecycle.ts'

export type OnRelease = Readonly<{ status: 'exchanging' | 'refunding'; reason: StatusReason | null }>

export type Execution = Readonly<{
  id: string
  leg: number
  /** Sender of the customer's deposit, where its chain names one reliably. Never a wallet of ours. */
  payer: string | null
  /** The watcher wrote this sender, and nothing has changed it since (I-39). */
  isPayerAuthentic: boolean
  /** Second leg: state of the payout that funds its deposit. Null = a first leg. */
  source: 'reserved' | 'signed' | 'confirmed' | 'void' | null
  /** Second leg: the customer's deposit is not credited or is in no block (I-34). */
  isSourceMissing: boolean
  /** Second leg: the leg before is closed and has no payout that could still fund this one. */
  isSourceClosed: boolean
  /** First leg of two: what its rate gave for the ordered amount, before the network fee. Null until its conversion. */
  orderedUnits: bigint | null
  /** Second leg: the same of the leg that funds it. */
  sourceOrderedUnits: bigint | null
  /** The next leg has its deposit. */
  nextLegFunded: boolean
  changedAt: Date
  status: ExchangeStatus
  reason: StatusReason | null
  decision: Decision | null
  /** Status and reason after a release; null = it was never held. */
  onRelease: OnRelease | null
  receivedUnits: bigint | null
  dueUnits: bigint | null
  rateKind: 'fixed' | 'floating' | 'mixed' | 'worse' | null
  orderId: string | null
  /** When it was first found to lack the reserve; null = it does not wait for it. */
  waitsSince: Date | null
  sentUnits: bigint | null
  payinHash: string
  payoutHash: string | null
  version: number
  deposit: Deposit
  payout: {
    id: string
    purpose: 'payout' | 'refund'
    state: 'reserved' | 'signed' | 'confirmed'
    attention: string | null
    units: bigint
    txHash: string | null
  } | null
  order: { id: string; state: 'planned' | 'filled' | 'rejected' | 'unknown' | 'cancelled'; takeUnits: bigint } | null
}>

export type Deposit = Readonly<{
  id: string
  network: string
  /** On the chain now: a reorganisation may change it (EVM). */
  identity: string
  txHash: string
  address: string
  memo: string | null
  assetId: AssetId | null
  contract: string | null
  units: bigint
  sender: string | null
  block: BlockRef | null
  orphaned: boolean
  firstSeenAt: Date
  includedAt: Date
  requiredConfirmations: number
  requiredTag: FinalityTag | null
  unclaimed: boolean
  /** It is credited, and in a block again with other units. It takes both when its credit is reversed. */
  returned: Readonly<{ units: bigint; block: BlockRef }> | null
  status: 'seen' | 'credited' | 'reversed' | 'rejected'
  creditedUnits: bigint | null
  credits: number
  isBookedAsLoss: boolean
}>
