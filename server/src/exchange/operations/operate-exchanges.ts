import type { AssetId } from '../../core/domain/asset.ts'
import { type AuditNote, notDecidable, refused, requireReason } from '../../core/services/audit-note.ts'
import { isUuid } from '../../lib/id.ts'
import type { Decision } from '../domain/lifecycle.ts'
import type { Destination } from '../ports/chain.ts'
import type { HeldExecution } from '../ports/store/operator.ts'
import type { Store } from '../ports/store/store.ts'

/** Maximum held executions in one list. Others are found by deposit id or transaction hash. */
const HELD_MAX = 50

/** Operator decisions about held exchanges. Each is about one deposit, which must be named if several are held. */
export function createOperateExchanges(store: Store) {
  return {
    decide: (exchangeId: string, decision: Decision, deposit: string | null, note: AuditNote): Promise<HeldExecution> =>
      store.transaction(async (tx) => {
        const held = await findOneHeld(tx, exchangeId, deposit)
        requireReason(note)
        const { id, status, reason } = held
        await tx.steps.saveExecution(exchangeId, { id, status, reason, decision }, `operator: ${decision}`)
        await tx.wake([{ kind: 'exchange', id: exchangeId }])
        await tx.auditLog.record({
          ...note,
          act: `exchange ${decision}`,
          subject: exchangeId,
          // Where a refund goes is part of what is decided: the payer may change it.
          detail: { ...describeHeld(held), refund: await tx.operator.findRefund(exchangeId) },
          before: { status, reason, decision: held.decision, onRelease: held.onRelease },
          after: { status, reason, decision, onRelease: held.onRelease },
        })
        return held
      }),
    /**
     * Sets the refund address. The refunds that wait for it continue, and are returned; any other hold needs a decision. `check`
     * throws if the address is invalid.
     */
    setRefund: (
      exchangeId: string,
      check: (assetId: AssetId) => Promise<Destination>,
      note: AuditNote,
    ): Promise<Destination & Readonly<{ waiting: readonly HeldExecution[] }>> =>
      store.transaction(async (tx) => {
        const held = await listHeld(tx, exchangeId, null)
        if (held.length === 0) throw nothingHeld(exchangeId)
        const before = await tx.operator.findRefund(exchangeId)
        if (!before) throw nothingHeld(exchangeId)
        const after = await check(before.assetId)
        requireReason(note)
        await tx.operator.setRefund(exchangeId, after)
        await tx.wake([{ kind: 'exchange', id: exchangeId }])
        const waiting = held.filter(({ reason }) => reason === 'REFUND_ADDRESS_REQUIRED')
        const detail = { refunds: waiting.map(describeHeld) }
        await tx.auditLog.record({ ...note, act: 'exchange set-refund', subject: exchangeId, detail, before, after })
        return { ...after, waiting }
      }),
  }
}

const describeHeld = ({ id, depositId, txHash, assetId, units }: HeldExecution) => ({
  ...{ execution: id, deposit: depositId, txHash, assetId, units },
})

const nothingHeld = (exchangeId: string) => notDecidable(`exchange ${exchangeId} has no held execution`)

/** Held executions of an exchange: all, or those that match a deposit. Throws if the id is not one. */
export async function listHeld(
  tx: Pick<Store, 'operator'>,
  exchangeId: string,
  deposit: string | null,
): Promise<readonly HeldExecution[]> {
  if (!isUuid(exchangeId.toLowerCase())) throw nothingHeld(exchangeId)
  return tx.operator.listHeldExecutions(exchangeId, deposit, HELD_MAX)
}

/** A decision applies to one deposit: the next may need another one. */
async function findOneHeld(
  tx: Pick<Store, 'operator'>,
  exchangeId: string,
  deposit: string | null,
): Promise<HeldExecution> {
  const matches = await listHeld(tx, exchangeId, deposit)
  const [first] = matches
  if (first && matches.length === 1) return first
  if (first)
    throw refused(
      `several deposits of exchange ${exchangeId} are held: name one with --deposit\n${formatHeld(matches)}`,
    )
  const others = deposit === null ? [] : await listHeld(tx, exchangeId, null)
  if (others.length === 0) throw nothingHeld(exchangeId)
  throw refused(`deposit ${deposit} of exchange ${exchangeId} is not held; these are:\n${formatHeld(others)}`)
}

const formatHeld = (held: readonly HeldExecution[]): string =>
  [
    ...held.map(
      ({ depositId, txHash, units, assetId, reason, onRelease }) =>
        `  ${depositId}  ${units} of ${assetId ?? 'an unlisted asset'}  ${reason ?? ''}, released: ${onRelease?.status ?? 'exchanging'}  in ${txHash}`,
    ),
    ...(held.length < HELD_MAX ? [] : [`  and perhaps more: the list shows the first ${HELD_MAX}`]),
  ].join('\n')
