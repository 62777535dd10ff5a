import type { Findings } from './checks.ts'

/** Counts of the injected faults and of the findings in a whole run. */
export type Totals = {
  kills: number
  crashes: number
  stops: number
  fullDisks: number
  reorgs: number
  exchanges: number
  paidTwice: number
  lost: number
  wrongCredits: number
  imbalance: number
  /** Failed cases, replies that no partner may get, alarms that no fault explains. */
  other: number
  /** Longest time from the last fault of a case until nothing was under way. */
  idleMs: number
  planted: { detected: number; total: number }
  notes: Map<string, string>
}

export const createTotals = (): Totals => ({
  kills: 0,
  crashes: 0,
  stops: 0,
  fullDisks: 0,
  reorgs: 0,
  exchanges: 0,
  paidTwice: 0,
  lost: 0,
  wrongCredits: 0,
  imbalance: 0,
  other: 0,
  idleMs: 0,
  planted: { detected: 0, total: 0 },
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
  return paidTwice + lost + wrongCredits + imbalance + other === 0 && planted.detected === planted.total
}

export function formatTable(totals: Totals): string {
  const rows: readonly (readonly [string, string | number])[] = [
    ['kills', totals.kills],
    ['crashes', totals.crashes],
    ['stops', totals.stops],
    ['full disks', totals.fullDisks],
    ['reorgs', totals.reorgs],
    ['exchanges', totals.exchanges],
    ['paid twice', totals.paidTwice],
    ['lost', totals.lost],
    ['wrong credits', totals.wrongCredits],
    ['ledger imbalance', totals.imbalance],
    ['other findings', totals.other],
    ['planted bugs found', `${totals.planted.detected}/${totals.planted.total}`],
    ['longest time to idle', `${Math.round(totals.idleMs / 1000)} s`],
    ...totals.notes,
  ]
  const width = Math.max(...rows.map(([label]) => label.length)) + 2
  return rows.map(([label, value]) => label.padEnd(width) + value).join('\n')
}
