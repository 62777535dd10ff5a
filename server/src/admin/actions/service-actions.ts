import { networks } from '../../../networks/index.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { refused } from '../../core/services/audit-note.ts'
import { createOperateAlarms } from '../../core/services/operate-alarms.ts'
import { SIGNING_JOURNAL_ALARM } from '../../exchange/operations/compare-signing-journal.ts'
import { endSigningHold } from '../../exchange/operations/end-signing-hold.ts'
import { requestRescan } from '../../exchange/operations/request-rescan.ts'
import { restoreSignedPayouts } from '../../exchange/operations/restore-signed-payouts.ts'
import type { ActionsOf } from './action.ts'
import { findNetwork } from './lookup.ts'

const SETTLED_MAX = 10_000

export const serviceActions: ActionsOf<
  'alarms-acknowledge' | 'alarms-resolve' | 'rescans-begin' | 'signer-import' | 'signer-release'
> = {
  'alarms-acknowledge': {
    async run({ store, note }, { subject }) {
      await createOperateAlarms(store).acknowledge(subject, note)
      return { subject, acknowledged: true }
    },
  },
  'alarms-resolve': {
    async run({ store, note }, { subject }) {
      await createOperateAlarms(store).resolve(subject, note)
      return { subject, resolved: true }
    },
  },
  'rescans-begin': {
    async run({ store, deps, note }, { network: name, from, to }) {
      const id = findNetwork(name)
      const definition = networks.find((one) => one.id === id)
      if (!definition) throw refused(`there is no network ${name}`)
      const rescan = await requestRescan(store, resolveNetwork(definition, deps.environment), { from, to }, note)
      return { rescan: rescan.id, network: rescan.network, next: rescan.nextHeight, to: rescan.toHeight }
    },
  },
  'signer-import': {
    // It imports only what the signer released and the database has queued with the same terms, however much that is.
    unbound: ['imported'],
    async run({ store, note }) {
      const imported = await restoreSignedPayouts(store)
      await store.auditLog.record({
        ...{ ...note, act: 'signer import', subject: SIGNING_JOURNAL_ALARM, detail: { imported: imported.length } },
      })
      return { imported }
    },
  },
  'signer-release': {
    unbound: ['generation'],
    async run({ store, note, isRehearsal }) {
      // It locks what workers report, so that they report nothing between this list and its end.
      await store.signingJournal.generation()
      const uncompared = await store.signingJournal.listUncompared()
      if (uncompared.length > 0)
        throw refused(
          `${uncompared.length} workers that reported in the last three minutes have not compared their whole journals with the database: look at \`signer missing\` and repeat this in some minutes`,
        )
      const missing = await store.signingJournal.listUnacknowledged(SETTLED_MAX)
      const generation = await store.signingJournal.beginGeneration({ skipsIndexes: !isRehearsal })
      const { ended: before, remaining } = await endSigningHold(store)
      await store.auditLog.record({
        ...note,
        act: 'signer release',
        subject: SIGNING_JOURNAL_ALARM,
        detail: {
          generation,
          remaining,
          settled: missing.map(({ network, txHash, payoutId }) => ({ network, txHash, payoutId })),
        },
        ...{ before, after: null },
      })
      return { released: true, settled: missing.length, ...(remaining.length > 0 ? { stillPaused: remaining } : {}) }
    },
  },
}
