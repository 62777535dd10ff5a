import { measureHitRate } from './model.ts'
import type { Case } from './simulation.ts'

/** Prints the hit rates of docs/private-exchanges.md: `node test/privacy/figures.ts`. Seeded: every run prints the same. */
const ROUNDS = 50
const MINUTE_S = 60
const intermediaries: readonly (readonly [string, Case['intermediary']])[] = [
  ['Litecoin, transparent (`efficient`)', 'ltc'],
  ['Monero, hidden (`privatePlus`)', 'xmr'],
]
const arrivals: readonly (readonly [string, number])[] = [
  ['10 minutes', 10 * MINUTE_S],
  ['an hour', 60 * MINUTE_S],
  ['a day', 1_440 * MINUTE_S],
]
type Column = Readonly<{ name: string }> & Partial<Pick<Case, 'delayS' | 'noise' | 'isPartWithheld'>>
const delays: readonly Column[] = [
  { name: 'no delay', delayS: 0 },
  { name: 'delay to 10 min' },
  { name: 'to 60 min', delayS: 60 * MINUTE_S },
]
const variations: readonly Column[] = [
  { name: 'to 10 min, ±1 %', noise: 0.01 },
  { name: 'to 60 min, ±1 %', delayS: 60 * MINUTE_S, noise: 0.01 },
  { name: 'to 60 min, ±3 %', delayS: 60 * MINUTE_S, noise: 0.03 },
  { name: 'to 60 min, ±3 %, nothing withheld', delayS: 60 * MINUTE_S, noise: 0.03, isPartWithheld: false },
]

function printTable(columns: readonly (Column & Pick<Case, 'sizes'>)[]): void {
  console.log(
    `\n| intermediary | a hundred within | ${columns.map(({ sizes, name }) => `${sizes}, ${name}`).join(' | ')} |`,
  )
  console.log(`|---|---|${columns.map(() => '---').join('|')}|`)
  for (const [intermediaryName, intermediary] of intermediaries)
    for (const [arrivalName, arriveS] of arrivals) {
      const rates = columns.map(({ name: _name, ...column }) => {
        const defaults = { intermediary, arriveS, delayS: 10 * MINUTE_S, noise: 0, isPartWithheld: true }
        return `${(100 * measureHitRate({ ...defaults, ...column }, ROUNDS)).toFixed(0)} %`
      })
      console.log(`| ${intermediaryName} | ${arrivalName} | ${rates.join(' | ')} |`)
    }
}

printTable((['equal', 'random'] as const).flatMap((sizes) => delays.map((column) => ({ ...column, sizes }))))
printTable(variations.map((column) => ({ ...column, sizes: 'random' })))
