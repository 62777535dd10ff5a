import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { formatUnits } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type {
  CostRow,
  Grouping,
  Period,
  ReportStore,
  RevenueRow,
  TrialBalanceRow,
} from '../exchange/ports/store/reports.ts'
import { withDatabase } from './database.ts'
import { decimalsOf } from './lookup.ts'
import { fail, print } from './print.ts'

const ROWS_MAX = 100_000
const DAY_MS = 86_400_000
const groupings: readonly Grouping[] = ['day', 'pair', 'partner', 'exchange']

type PeriodOptions = Readonly<{ from: Date; to: Date; csv: boolean }>
type GroupOptions = PeriodOptions & Readonly<{ by: Grouping }>
/** Members of type bigint are base units of `assetId`. */
type Row = Readonly<{ assetId: AssetId; [column: string]: string | number | bigint | null }>

/** Columns of the CSV, also of a report without rows. */
const revenueColumns = ['group', 'assetId', 'exchanges', 'spread', 'partnerFees', 'networkFees', 'dust'] as const
const costColumns = ['group', 'assetId', 'transactions', 'payouts', 'sweeps', 'gas', 'stranded'] as const
const balanceColumns = ['account', 'assetId', 'opening', 'debits', 'credits', 'closing'] as const

/** `swapyard report revenue|costs|trial-balance`: sums of the ledger over whole days in UTC. */
export function addReportCommands(program: Command): void {
  const report = program.command('report').description('sums of the ledger over days in UTC, as JSON lines or CSV')
  withGrouping(report.command('revenue'))
    .description('what exchanges earned: spread, network fees charged, dust, and the fees owed to partners')
    .action((options: GroupOptions) =>
      printReport<RevenueRow>(options, revenueColumns, (reports, period) =>
        reports.revenue(period, options.by, ROWS_MAX + 1),
      ),
    )
  withGrouping(report.command('costs'))
    .description(
      'what networks were paid: for payouts and refunds, for sweeps of deposits with splits and merges of outputs, and for supplying gas; and the gas that stays on deposit addresses',
    )
    .action((options: GroupOptions) =>
      printReport<CostRow>(options, costColumns, (reports, period) => reports.costs(period, options.by, ROWS_MAX + 1)),
    )
  withPeriod(report.command('trial-balance'))
    .description('opening balance, debits, credits and closing balance of each kind of account; debits are positive')
    .action((options: PeriodOptions) =>
      printReport<TrialBalanceRow>(options, balanceColumns, (reports, period) => reports.trialBalance(period)),
    )
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

function parseDay(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new InvalidArgumentError('must be a day, for example 2026-11-01')
  return day
}

function printReport<T extends Row>(
  { from, to, csv }: PeriodOptions,
  columns: readonly (keyof T & string)[],
  read: (reports: ReportStore, period: Period) => Promise<readonly T[]>,
): Promise<void> {
  if (to < from) fail('--to is before --from: name the last day of the period')
  return withDatabase(async (database) => {
    const rows = await read(createStore(database).reports, { from, to: new Date(to.getTime() + DAY_MS) })
    if (rows.length > ROWS_MAX) fail(`more than ${ROWS_MAX} rows: name a shorter period`)
    if (csv) console.log(columns.join(','))
    const decimals = await readDecimals(database, rows)
    for (const row of rows) {
      const shown = columns.map((column) => {
        const value = row[column]
        return [
          column,
          typeof value === 'bigint' ? formatSigned(value, decimals.get(row.assetId) ?? 0) : value,
        ] as const
      })
      if (csv) console.log(shown.map(([, value]) => toCsvField(value)).join(','))
      else print(Object.fromEntries(shown))
    }
  })
}

async function readDecimals(database: Database, rows: readonly Row[]): Promise<ReadonlyMap<AssetId, number>> {
  const decimals = new Map<AssetId, number>()
  for (const { assetId } of rows) if (!decimals.has(assetId)) decimals.set(assetId, await decimalsOf(database, assetId))
  return decimals
}

const formatSigned = (units: bigint, decimals: number): string =>
  units < 0n ? `-${formatUnits(-units, decimals)}` : formatUnits(units, decimals)

/** RFC 4180. */
function toCsvField(value: unknown): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
