import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createOperateAlarms } from '../core/services/operate-alarms.ts'
import { type ReasonOption, toAuditNote, withReason, withRequiredReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { print } from './print.ts'

const LISTED_MAX = 1_000

/** `swapyard alarms`, `alarms ack` and `alarms resolve`. */
export function addAlarmCommands(program: Command): void {
  const alarms = program
    .command('alarms')
    .description('lists open alarms, the most severe first')
    .action(() => printRows((database) => createStore(database).alarms.list(LISTED_MAX)))
  withReason(alarms.command('ack <subject>'))
    .description('states that you work on an alarm: it stays open, and the metric counts it no longer')
    .action((subject: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        await createOperateAlarms(createStore(database)).acknowledge(subject, toAuditNote(options))
        print({ subject, acknowledged: true })
      }),
    )
  withRequiredReason(alarms.command('resolve <subject>'))
    .description('ends an alarm whose cause you have dealt with; it is raised again if the cause remains')
    .action((subject: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        await createOperateAlarms(createStore(database)).resolve(subject, toAuditNote(options))
        print({ subject, resolved: true })
      }),
    )
}
