import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { PAYOUTS_PAUSE, SIGNING_JOURNAL_ALARM } from '../exchange/operations/compare-signing-journal.ts'
import { restoreSignedPayouts } from '../exchange/operations/restore-signed-payouts.ts'
import { withDatabase } from './database.ts'
import { print } from './print.ts'

const LISTED_MAX = 10_000

/** `swapyard signer …`: what the signers' journals know and the database does not, after a restore or a failover. */
export function addSignerCommands(program: Command): void {
  const signer = program.command('signer').description("the signers' journals beside the database")
  signer
    .command('missing')
    .description('payouts that left the house and that the database does not know')
    .action(() =>
      withDatabase(async (database) => {
        for (const forgotten of await createStore(database).signingJournal.listMissing(LISTED_MAX)) print(forgotten)
      }),
    )
  signer
    .command('import')
    .description(
      'takes what is missing into the database again, once it asks for the same payouts; repeat until nothing waits',
    )
    .action(() =>
      withDatabase(async (database) => {
        for (const imported of await restoreSignedPayouts(createStore(database))) print(imported)
      }),
    )
  signer
    .command('release')
    .description('ends the hold after a restore: what is missing is settled; a payout to its destination waits for you')
    .requiredOption('--reason <text>', 'what was looked at')
    .action(({ reason }: { reason: string }) =>
      withDatabase(async (database) => {
        const settled = await createStore(database).transaction(async (tx) => {
          const missing = await tx.signingJournal.listUnacknowledged(LISTED_MAX)
          const epoch = await tx.signingJournal.beginGeneration()
          await tx.pauses.resume(PAYOUTS_PAUSE)
          await tx.alarms.clear(SIGNING_JOURNAL_ALARM)
          await tx.auditLog.record({
            actor: userInfo().username,
            act: 'signer release',
            subject: SIGNING_JOURNAL_ALARM,
            reason,
            detail: { epoch, settled: missing.map(({ network, txHash, payoutId }) => ({ network, txHash, payoutId })) },
          })
          return missing.length
        })
        print({ released: true, settled })
      }),
    )
}
