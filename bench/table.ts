import type { Result } from './benchmarks.ts'

/** Formats the results as a table of aligned columns. */
export function formatTable(results: readonly Result[]): string {
  const rows = [['benchmark', 'goal', 'measured', '', ''], ...results.map(toRow)]
  const widths = rows[0]?.map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function toRow({ name, goal, figure, unit, note }: Result): string[] {
  const measured = `${figure.toFixed(unit === 'MB' ? 0 : 2)}${unit === '' ? '' : ` ${unit}`}`
  if (goal === null) return [name, '', measured, '', note]
  const isMet = 'atLeast' in goal ? figure >= goal.atLeast : figure < goal.below
  const target = 'atLeast' in goal ? `≥ ${goal.atLeast}` : `< ${goal.below} ${unit}`
  return [name, target, measured, isMet ? 'pass' : 'MISS', note]
}
