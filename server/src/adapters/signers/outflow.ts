import type { AssetId } from '../../core/domain/asset.ts'
import { OutflowLimitError, type OutflowWindow } from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'
import type { Outflow } from './signing-journal.ts'

/** Maximum outflow in base units: of one payout, in one hour, in 24 hours. */
export type OutflowLimits = ReadonlyMap<AssetId, Readonly<{ transaction: bigint; hour: bigint; day: bigint }>>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Options = Readonly<{
  limits: OutflowLimits
  isOwn(network: string, address: string): boolean
  released(since: number): readonly Outflow[]
  now(): number
}>

type OutflowCounter = Readonly<{
  /** Counts these payments, or throws OutflowLimitError. `refundIds`: the payouts among them that return a deposit. */
  take(pays: readonly Payment[], refundIds: ReadonlySet<string>): void
  /** Whether a payout that was signed in this process returns a deposit. */
  isRefund(payoutId: string): boolean
}>

/**
 * The signer's own counters, which access to the database cannot change. Released payouts count from the journal. Payouts
 * that are signed and not released count in memory until a restart, because they may still be released. Refunds count apart,
 * up to the same limits: who sends deposits that are returned stops no payout (M10).
 */
export function createOutflow({ limits, isOwn, released, now }: Options): OutflowCounter {
  const signed = new Map<string, Outflow>()

  /** A payout counts once, however often it is signed and released: only one of its transactions can confirm. */
  function listOutflows(since: number): Iterable<Outflow> {
    const byPayout = new Map<string, Outflow>()
    for (const outflow of [...released(since), ...signed.values()])
      if (outflow.at > since) byPayout.set(outflow.payoutId, outflow)
    return byPayout.values()
  }

  function sumOutflows(assetId: AssetId, isRefund: boolean, since: number, except: ReadonlySet<string>): bigint {
    let units = 0n
    for (const outflow of listOutflows(since)) {
      const isCounted = outflow.assetId === assetId && outflow.isRefund === isRefund && !except.has(outflow.payoutId)
      if (isCounted && !isOwn(assetId.slice(assetId.indexOf('@') + 1), outflow.address)) units += outflow.units
    }
    return units
  }

  function checkLimits(assetId: AssetId, isRefund: boolean, payments: readonly Payment[], at: number): void {
    const limit = limits.get(assetId)
    if (limit === undefined || payments.length === 0) return
    const refuse = (window: OutflowWindow) => {
      throw new OutflowLimitError(assetId, window)
    }
    if (payments.some(({ units }) => units > limit.transaction)) refuse('transaction')
    const ids = new Set(payments.map(({ payoutId }) => payoutId))
    const units = payments.reduce((total, pay) => total + pay.units, 0n)
    if (sumOutflows(assetId, isRefund, at - HOUR_MS, ids) + units > limit.hour) refuse('hour')
    if (sumOutflows(assetId, isRefund, at - DAY_MS, ids) + units > limit.day) refuse('day')
  }

  return {
    take(pays, refundIds) {
      const at = now()
      for (const [payoutId, outflow] of signed) if (outflow.at <= at - DAY_MS) signed.delete(payoutId)
      const outgoing = pays.filter(({ asset, address }) => limits.has(asset.id) && !isOwn(asset.network, address))
      for (const [assetId, ofAsset] of Map.groupBy(outgoing, ({ asset }) => asset.id))
        for (const isRefund of [false, true]) {
          const payments = ofAsset.filter(({ payoutId }) => refundIds.has(payoutId) === isRefund)
          checkLimits(assetId, isRefund, payments, at)
        }
      for (const { payoutId, asset, address, units } of outgoing)
        signed.set(payoutId, {
          payoutId,
          assetId: asset.id,
          address,
          units,
          at,
          isRefund: refundIds.has(payoutId),
        })
    },
    isRefund: (payoutId) => signed.get(payoutId)?.isRefund === true,
  }
}
