import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason, withRequiredReason } from './audit-note.ts'

/** `swapyard signer …`: compares the signing journals with the database after a restore or a failover. */
export function addSignerCommands(program: Command): void {
  const signer = program.command('signer').description("repairs the database from the signers' journals")
  signer
    .command('missing')
    .description('lists payouts that were sent and that the database does not know')
    .action(() => printRead('missingPayouts', {}, ({ detail, ...row }) => ({ ...row, ...(detail as object) })))
  withReason(signer.command('import'))
    .description('imports missing payouts once the database asks for the same ones again; repeat until none waits')
    .action((options: ReasonOption) => act('signer-import', {}, options))
  withRequiredReason(signer.command('release'))
    .description(
      'ends the hold after a restore, or of an added worker, and settles the missing payouts; a new payout to one of their destinations waits for you',
    )
    .action((options: ReasonOption) => act('signer-release', {}, options))
}
