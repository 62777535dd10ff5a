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
type Column = Readonly<{ name: string }> & Partial<Pick<Case, 'delayS' | 'noise' | 'isPartWithheld' | 'feed'>>
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

/** What the analyst reads of the reserves, which are 300 to 3 000 times a payment. */
const feeds: readonly Column[] = [
  { name: 'no reserves' },
  { name: 'exact reserves', feed: { figures: 'exact', reserve: 3_000 } },
  { name: 'published reserves', feed: { figures: 'published', reserve: 3_000 } },
]

function printTable(columns: readonly (Column & Pick<Case, 'sizes'>)[], through = intermediaries): void {
  console.log(
    `\n| intermediary | a hundred within | ${columns.map(({ sizes, name }) => `${sizes}, ${name}`).join(' | ')} |`,
  )
  console.log(`|---|---|${columns.map(() => '---').join('|')}|`)
  for (const [intermediaryName, intermediary] of through)
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
const hidden = intermediaries.filter(([, intermediary]) => intermediary === 'xmr')
const withFeeds = (column: Omit<Column, 'name'> & Pick<Case, 'sizes'>) => feeds.map((feed) => ({ ...column, ...feed }))
printTable(
  [
    ...withFeeds({ sizes: 'equal', delayS: 60 * MINUTE_S }),
    ...withFeeds({ sizes: 'random', delayS: 60 * MINUTE_S, noise: 0.03 }),
  ],
  hidden,
)
