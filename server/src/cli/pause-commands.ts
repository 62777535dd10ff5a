import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason, withRequiredReason } from './audit-note.ts'

/** `swapyard pause`, `pauses` and `resume`. */
export function addPauseCommands(program: Command): void {
  withRequiredReason(program.command('pause <scope>'))
    .description(
      'pauses a scope: all, network:btc, payouts:eth, asset:usdt@eth, partner:<name or id>; of swap routes: dex:sushiswap-v2@base, pool:<id>@base, token:<address>@base',
    )
    .action((scope: string, options: ReasonOption) => act('pauses-begin', { scope }, options))
  program
    .command('pauses')
    .description('lists pauses, who began them and why')
    .action(() => printRead('pauses'))
  withReason(program.command('resume <scope>'))
    .description('ends a pause; of payouts:NETWORK, acknowledges the coins that are missing there')
    .option('--missing <alarm=units...>', 'the missing coins that you have looked at, as the alarms state them')
    .action((scope: string, { missing, ...options }: ReasonOption & Readonly<{ missing?: string[] }>) =>
      act('pauses-end', { scope, missing }, options),
    )
}
