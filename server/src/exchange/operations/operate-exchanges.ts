import type { AssetId } from '../../core/domain/asset.ts'
import { refused, requireReason, type AuditNote } from '../../core/services/audit-note.ts'
import type { Decision } from '../domain/lifecycle.ts'
import type { Destination } from '../ports/chain.ts'
import type { HeldExecution } from '../ports/store/operator.ts'
import type { Store } from '../ports/store/store.ts'

/** Held executions of one exchange that a person is shown: further ones are found by their name. */
const HELD_MAX = 50
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What a person decides about a held exchange: about one deposit of it, which must be named where several are held. */
export function createOperateExchanges(store: Store) {
  return {
    decide: (exchangeId: string, decision: Decision, deposit: string | null, word: AuditNote): Promise<HeldExecution> =>
      store.transaction(async (tx) => {
        const one = await choose(tx, exchangeId, deposit)
        requireReason(word)
        const { id, status, reason } = one
        await tx.steps.saveExecution(exchangeId, { id, status, reason, decision }, `operator: ${decision}`)
        await tx.wake([{ kind: 'exchange', id: exchangeId }])
        await tx.auditLog.record({
          ...word,
          act: `exchange ${decision}`,
          subject: exchangeId,
          detail: { execution: id, deposit: one.depositId, txHash: one.txHash, assetId: one.assetId, units: one.units },
          before: { status, reason, decision: one.decision, onRelease: one.onRelease },
          after: { status, reason, decision, onRelease: one.onRelease },
        })
        return one
      }),
    /** Where its refund goes. Nothing is sent by this: a decision follows. `check` says what is wrong with the address. */
    setRefund: (
      exchangeId: string,
      check: (assetId: AssetId) => Promise<Destination>,
      word: AuditNote,
    ): Promise<Destination> =>
      store.transaction(async (tx) => {
        if ((await heldOf(tx, exchangeId, null)).length === 0) throw nothingHeld(exchangeId)
        const before = await tx.operator.findRefund(exchangeId)
        if (!before) throw nothingHeld(exchangeId)
        const after = await check(before.assetId)
        requireReason(word)
        await tx.operator.setRefund(exchangeId, after)
        await tx.auditLog.record({ ...word, act: 'exchange set-refund', subject: exchangeId, before, after })
        return after
      }),
  }
}

const nothingHeld = (exchangeId: string) => refused(`exchange ${exchangeId} has nothing held`)

async function heldOf(
  tx: Pick<Store, 'operator'>,
  exchangeId: string,
  deposit: string | null,
): Promise<readonly HeldExecution[]> {
  if (!UUID.test(exchangeId)) throw nothingHeld(exchangeId)
  return tx.operator.listHeldExecutions(exchangeId, deposit, HELD_MAX)
}

/** One deposit is one decision: what is right for one may be wrong for the next. */
async function choose(tx: Pick<Store, 'operator'>, exchangeId: string, deposit: string | null): Promise<HeldExecution> {
  const [one, ...others] = await heldOf(tx, exchangeId, deposit)
  if (one && others.length === 0) return one
  if (one)
    throw refused(
      `several deposits of exchange ${exchangeId} are held: name one with --deposit\n${listed([one, ...others])}`,
    )
  const held = deposit === null ? [] : await heldOf(tx, exchangeId, null)
  if (held.length === 0) throw nothingHeld(exchangeId)
  throw refused(`no deposit ${deposit} of exchange ${exchangeId} is held:\n${listed(held)}`)
}

const listed = (held: readonly HeldExecution[]): string =>
  [
    ...held.map(
      ({ depositId, txHash, units, assetId, reason, onRelease }) =>
        `  ${depositId}  ${units} of ${assetId ?? 'nothing listed'}  ${reason ?? ''}, released: ${onRelease?.status ?? 'exchanging'}  in ${txHash}`,
    ),
    ...(held.length < HELD_MAX ? [] : ['  and perhaps more: these are the first']),
  ].join('\n')
