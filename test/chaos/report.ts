import type { Findings } from './checks.ts'

/** What was done to the houses of a whole run, and what came of it. */
export type Totals = {
  kills: number
  crashes: number
  reorgs: number
  exchanges: number
  paidTwice: number
  lost: number
  wrongCredits: number
  imbalance: number
  /** Whatever else was wrong: a drillCase that failed, an answer that nobody should get, an alarm that no fault excuses. */
  other: number
  /** The longest that it took, once nothing more went wrong, until nothing was under way. */
  restMs: number
  planted: { found: number; of: number }
  notes: Map<string, string>
}

export const noTotals = (): Totals => ({
  kills: 0,
  crashes: 0,
  reorgs: 0,
  exchanges: 0,
  paidTwice: 0,
  lost: 0,
  wrongCredits: 0,
  imbalance: 0,
  other: 0,
  restMs: 0,
  planted: { found: 0, of: 0 },
  notes: new Map(),
})

export function countFindings(totals: Totals, findings: Findings): void {
  totals.paidTwice += findings.paidTwice.length
  totals.lost += findings.lost.length
  totals.wrongCredits += findings.wrongCredits.length
  totals.imbalance += findings.imbalance.length
  totals.other += findings.other.length
}

export function isClean({ paidTwice, lost, wrongCredits, imbalance, other, planted }: Totals): boolean {
  return paidTwice + lost + wrongCredits + imbalance + other === 0 && planted.found === planted.of
}

export function table(totals: Totals): string {
  const rows: readonly (readonly [string, string | number])[] = [
    ['kills', totals.kills],
    ['crashes', totals.crashes],
    ['reorgs', totals.reorgs],
    ['exchanges', totals.exchanges],
    ['paid twice', totals.paidTwice],
    ['lost', totals.lost],
    ['wrong credits', totals.wrongCredits],
    ['ledger imbalance', totals.imbalance],
    ['other findings', totals.other],
    ['planted bugs found', `${totals.planted.found}/${totals.planted.of}`],
    ['longest way to rest', `${Math.round(totals.restMs / 1000)} s`],
    ...totals.notes,
  ]
  const width = Math.max(...rows.map(([what]) => what.length)) + 2
  return rows.map(([what, figure]) => what.padEnd(width) + figure).join('\n')
}
