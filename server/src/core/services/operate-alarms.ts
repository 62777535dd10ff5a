import type { CoreStores } from '../ports/store/store.ts'
import { type AuditNote, refused } from './audit-note.ts'

type Tx = Pick<CoreStores, 'alarms' | 'auditLog'>
type Transact = Readonly<{ transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }>

/** Operator decisions about alarms, which the audit log keeps. */
export function createOperateAlarms(store: Transact) {
  const decide = (
    act: 'ack' | 'resolve',
    subject: string,
    note: AuditNote,
    apply: (tx: Tx) => Promise<void>,
  ): Promise<void> =>
    store.transaction(async (tx) => {
      const before = await tx.alarms.find(subject)
      if (before === null) throw refused(`${subject} is no open alarm: see swapyard alarms`)
      await apply(tx)
      await tx.auditLog.record({ ...note, act: `alarm ${act}`, subject, before, after: await tx.alarms.find(subject) })
    })
  return {
    /** Somebody works on it: it stays open, and the metric counts it no longer. */
    acknowledge: (subject: string, note: AuditNote) =>
      decide('ack', subject, note, (tx) => tx.alarms.acknowledge(subject, note.actor)),
    /** Ends it. If its cause remains, it is raised again. */
    resolve: (subject: string, note: AuditNote) => decide('resolve', subject, note, (tx) => tx.alarms.clear(subject)),
  }
}
