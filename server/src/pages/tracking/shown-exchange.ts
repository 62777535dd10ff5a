import { hash } from 'node:crypto'
import type { ExchangeStatus, StatusReason } from '../../exchange/domain/exchange.ts'
import type { TrackedExchange } from '../../exchange/domain/tracked-exchange.ts'
import type { Expectations } from '../../exchange/interfaces.ts'
import type { AssetNames, NamedAsset } from './currency-names.ts'

/** What one response shows, apart from its language. */
export type ShownExchange = Readonly<{
  tracked: TrackedExchange
  from: NamedAsset
  to: NamedAsset
  assetNames: AssetNames
  status: ExchangeStatus
  reason: StatusReason | null
  /** A payment is expected: address and amount are shown. */
  isPayable: boolean
  /** Pending after the expiry: no payment is asked for, and one that was made before can still be found. */
  isTimeOver: boolean
  /** The lock of a fixed rate has ended. */
  isLockOver: boolean
  /** The payment left the chain and may return. */
  isVanished: boolean
  /** The payer may name a refund address here. */
  takesRefundAddress: boolean
  confirmations: Readonly<{ seen: number; required: number }> | null
  expectedSeconds: number | null
  /** `slow`: closed without a payment that counts, and a late one can still ask for a refund address. */
  pace: 'live' | 'slow' | 'final'
  now: number
}>

export type ShowingDeps = Readonly<{ assetNames: AssetNames; expectations: Pick<Expectations, 'payerSecondsOf'> }>

export function toShownExchange(
  { assetNames, expectations }: ShowingDeps,
  tracked: TrackedExchange,
  takesRefundAddress: boolean,
  now: number,
): ShownExchange {
  const { exchange, current, status, reason, deposits } = tracked
  const hasExpired = exchange.expiresAt.getTime() <= now
  const isVanished = status === 'pending' && deposits.length > 0
  const required = current === null ? exchange.estimate?.confirmations : current.confirmations.required
  return {
    tracked,
    from: assetNames.of(tracked.from),
    to: assetNames.of(tracked.to),
    assetNames,
    status,
    reason,
    // A payment that left the chain may return, beside a second one.
    isPayable: status === 'pending' && !hasExpired && !isVanished,
    isTimeOver: status === 'pending' && hasExpired,
    isLockOver: exchange.fixedUntil !== null && exchange.fixedUntil.getTime() <= now,
    isVanished,
    takesRefundAddress,
    confirmations:
      status !== 'confirming' || typeof required !== 'number'
        ? null
        : { seen: current?.confirmations.seen ?? 0, required },
    expectedSeconds: expectations.payerSecondsOf(tracked),
    pace: tracked.isOpen ? 'live' : status === 'failed' ? 'slow' : 'final',
    now,
  }
}

/** The same text for the same content of the page, so that unchanged pages are not rendered again. */
export function fingerprintOf({ now: _, assetNames: __, ...shown }: ShownExchange): string {
  const text = JSON.stringify(shown, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return hash('sha1', text, 'base64url').slice(0, 12)
}
