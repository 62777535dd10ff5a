import type { Result } from './benchmarks.ts'

/** What the run found, as lines of even columns. */
export function columns(results: readonly Result[]): string {
  const rows = [['benchmark', 'goal', 'found', '', ''], ...results.map(toRow)]
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
  const found = `${figure.toFixed(unit === 'MB' ? 0 : 2)}${unit === '' ? '' : ` ${unit}`}`
  if (goal === null) return [name, '', found, '', note]
  const isMet = 'atLeast' in goal ? figure >= goal.atLeast : figure < goal.below
  const wanted = 'atLeast' in goal ? `≥ ${goal.atLeast}` : `< ${goal.below} ${unit}`
  return [name, wanted, found, isMet ? 'pass' : 'MISS', note]
}
