import { type Command, InvalidArgumentError, Option } from 'commander'
import { readRows } from './act.ts'
import { fail, print } from './print.ts'

const groupings = ['day', 'pair', 'partner', 'exchange'] as const

type PeriodOptions = Readonly<{ from: string; to: string; csv: boolean; by?: string }>

/** Columns of the CSV, also of a report without rows. */
const columns = {
  revenue: ['group', 'assetId', 'exchanges', 'spread', 'partnerFees', 'networkFees', 'dust'],
  costs: ['group', 'assetId', 'transactions', 'payouts', 'sweeps', 'gas', 'stranded', 'lost'],
  trialBalance: ['account', 'assetId', 'opening', 'debits', 'credits', 'closing'],
} as const

/** `swapyard report revenue|costs|trial-balance`: sums of the ledger over whole days in UTC. */
export function addReportCommands(program: Command): void {
  const report = program.command('report').description('sums of the ledger over days in UTC, as JSON lines or CSV')
  withGrouping(report.command('revenue'))
    .description(
      'what exchanges earned: spread (below zero: lost), network fees charged, dust, and the fees owed to partners',
    )
    .action((options: PeriodOptions) => printReport('revenue', options))
  withGrouping(report.command('costs'))
    .description(
      'what networks were paid: for payouts and refunds, for sweeps of deposits with splits and merges of outputs, and for supplying gas; the gas that stays on deposit addresses; and what was lost with deposits that left their chain',
    )
    .action((options: PeriodOptions) => printReport('costs', options))
  withPeriod(report.command('trial-balance'))
    .description('opening balance, debits, credits and closing balance of each kind of account; debits are positive')
    .action((options: PeriodOptions) => printReport('trialBalance', options))
}

const withPeriod = (command: Command): Command =>
  command
    .requiredOption('--from <day>', 'first day, for example 2026-11-01', parseDay)
    .requiredOption('--to <day>', 'last day, included', parseDay)
    .option('--csv', 'prints CSV with a header', false)

const withGrouping = (command: Command): Command =>
  withPeriod(command).addOption(
    new Option('--by <group>', 'what rows are grouped by').choices(groupings).default('day'),
  )

function parseDay(text: string): string {
  const day = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new InvalidArgumentError('must be a day, for example 2026-11-01')
  return text
}

async function printReport(
  name: 'revenue' | 'costs' | 'trialBalance',
  { csv, ...period }: PeriodOptions,
): Promise<void> {
  if (period.to < period.from) fail('--to is before --from: name the last day of the period')
  const rows = (await readRows(name, { ...period })).map(({ group, account, currency, ...row }) => ({
    ...{ ...(account === undefined ? { group } : { account }), assetId: currency, ...row },
  }))
  if (csv) console.log(columns[name].join(','))
  for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
    if (csv) console.log(columns[name].map((column) => toCsvField(row[column])).join(','))
    else print(row)
  }
}

/** RFC 4180. */
function toCsvField(value: unknown): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
