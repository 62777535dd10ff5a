import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason, withRequiredReason } from './audit-note.ts'

/** `swapyard alarms`, `alarms ack` and `alarms resolve`. */
export function addAlarmCommands(program: Command): void {
  const alarms = program
    .command('alarms')
    .description('lists open alarms, the most severe first: the newest 100 of each kind; `more` counts older ones')
    .option('--kind <kind>', 'only alarms whose subject begins with this and a colon: the newest 1000')
    .action(({ kind }: Readonly<{ kind?: string }>) => printRead('alarms', kind === undefined ? {} : { kind }))
  withReason(alarms.command('ack <subject>'))
    .description('states that you work on an alarm: it stays open, and the metric counts it no longer')
    .action((subject: string, options: ReasonOption) => act('alarms-acknowledge', { subject }, options))
  withRequiredReason(alarms.command('resolve <subject>'))
    .description('ends an alarm whose cause you have dealt with; it is raised again if the cause remains')
    .action((subject: string, options: ReasonOption) => act('alarms-resolve', { subject }, options))
}
