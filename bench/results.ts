import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

export type Goal = Readonly<{ atLeast: number } | { below: number }>

/** A measured value. Without a unit it is a ratio; without a goal it is for information. */
export type Figure = Readonly<{ value: number; unit?: string; goal?: Goal }>

/** One line of the table. It passes if all its figures reach their goals. */
export type Result = Readonly<{
  name: string
  figures: readonly Figure[]
  note?: string
  /** Why the goals are not judged on this machine. */
  notJudged?: string
}>

/** Formats the results as a Markdown table. */
export function formatTable(results: readonly Result[]): string {
  const rows = results.map(({ name, figures, note = '', notJudged }) => [
    name,
    figures.map(formatGoal).filter(Boolean).join(', '),
    figures.map(formatValue).join(', '),
    verdictOf(figures, notJudged),
    [notJudged, note].filter(Boolean).join('; '),
  ])
  return toMarkdown([['benchmark', 'goal', 'result', '', 'details'], ...rows])
}

function toMarkdown(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((row) => `| ${row.join(' | ')} |`)
  return [lines[0], `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...lines.slice(1)].join('\n')
}

const formatGoal = ({ goal, unit }: Figure): string => {
  if (goal === undefined) return ''
  return 'atLeast' in goal ? `≥ ${withUnit(String(goal.atLeast), unit)}` : `< ${withUnit(String(goal.below), unit)}`
}

const formatValue = ({ value, unit }: Figure): string => withUnit(formatNumber(value), unit)

const withUnit = (text: string, unit = ''): string => (unit === '' ? text : `${text} ${unit}`)

function formatNumber(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function verdictOf(figures: readonly Figure[], notJudged: string | undefined): string {
  if (notJudged !== undefined || figures.every(({ goal }) => goal === undefined)) return 'not judged'
  return figures.every(isMet) ? 'pass' : 'MISS'
}

function isMet({ value, goal }: Figure): boolean {
  if (goal === undefined) return true
  return 'atLeast' in goal ? value >= goal.atLeast : value < goal.below
}

export const readLoadAverage = (): string => {
  try {
    return readFileSync('/proc/loadavg', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}

/** The conditions of a run. `loadBefore` and `loadAfter`: load averages of the machine, which show other work. */
export type Run = Readonly<{
  startedAt: Date
  /** As of `readCommit`, when the run began. */
  commit: string
  loadBefore: string
  loadAfter: string
  postgres: string
  options: string
}>

/** Formats the conditions and the table of a run. */
export function formatRun({ startedAt, commit, loadBefore, loadAfter, postgres, options }: Run, table: string): string {
  return [
    `# Benchmarks, ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `- Command: \`npm run bench${options === '' ? '' : ` -- ${options}`}\`, commit ${commit}`,
    `- Machine: ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown model'}; Node ${process.version}, Postgres ${postgres}`,
    `- Load average before the run: ${loadBefore}`,
    `- Load average after the run: ${loadAfter}`,
    '',
    table,
    '',
  ].join('\n')
}

/** The commit of this checkout; `-dirty` follows if a file of it differs; `unknown` without git. */
export function readCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** Why results are not saved: the program that was measured could not be found again. Null: they are. */
export function whyNotSaved(commit: string): string | null {
  if (commit === 'unknown') return '--save needs a git checkout: the file names the commit that was measured'
  if (!commit.endsWith('-dirty')) return null
  return '--save refuses a checkout with changes: commit them first, so that the file names what was measured'
}

/** Writes a run to a file of `bench/results/` that its time names. */
export function saveRun(startedAt: Date, text: string): string {
  const name = startedAt.toISOString().slice(0, 16).replace('T', '-').replace(':', '')
  const file = join(import.meta.dirname, 'results', `${name}.md`)
  writeFileSync(file, text)
  return file
}
