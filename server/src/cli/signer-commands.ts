import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import {
  JOURNAL_BEHIND_ALARM,
  PAYOUTS_PAUSE,
  SIGNING_JOURNAL_ALARM,
} from '../exchange/operations/compare-signing-journal.ts'
import { restoreSignedPayouts } from '../exchange/operations/restore-signed-payouts.ts'
import { toAuditNote } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { print } from './print.ts'

const LISTED_MAX = 10_000

/** `swapyard signer …`: compares the signing journals with the database after a restore or a failover. */
export function addSignerCommands(program: Command): void {
  const signer = program.command('signer').description("repairs the database from the signers' journals")
  signer
    .command('missing')
    .description('lists payouts that were sent and that the database does not know')
    .action(() => printRows((database) => createStore(database).signingJournal.listMissing(LISTED_MAX)))
  signer
    .command('import')
    .description('imports missing payouts once the database asks for the same ones again; repeat until none waits')
    .action(() => printRows((database) => restoreSignedPayouts(createStore(database))))
  signer
    .command('release')
    .description(
      'ends the hold after a restore and settles the missing payouts; a new payout to one of their destinations waits for you',
    )
    .requiredOption('--reason <text>', 'what you checked; stored in the audit log with your user name')
    .action(({ reason }: { reason: string }) =>
      withDatabase(async (database) => {
        const settled = await createStore(database).transaction(async (tx) => {
          const missing = await tx.signingJournal.listUnacknowledged(LISTED_MAX)
          const generation = await tx.signingJournal.beginGeneration()
          await tx.pauses.resume(PAYOUTS_PAUSE)
          await tx.alarms.clear(SIGNING_JOURNAL_ALARM, JOURNAL_BEHIND_ALARM)
          await tx.auditLog.record({
            ...toAuditNote({ reason }),
            act: 'signer release',
            subject: SIGNING_JOURNAL_ALARM,
            detail: {
              generation,
              settled: missing.map(({ network, txHash, payoutId }) => ({ network, txHash, payoutId })),
            },
          })
          return missing.length
        })
        print({ released: true, settled })
      }),
    )
}
