import { type Case, hitRate } from './model.ts'

/** Prints the table of docs/private-exchanges.md: `node test/privacy/figures.ts`. The same numbers each time. */
const ROUNDS = 50
const MINUTE_S = 60
const arrivals: readonly [string, number][] = [
  ['10 minutes', 10 * MINUTE_S],
  ['an hour', 60 * MINUTE_S],
  ['a day', 1_440 * MINUTE_S],
]
const columns: readonly (readonly [string, Pick<Case, 'sizes' | 'delayS' | 'noise'>])[] = [
  ['equal, no wait', { sizes: 'equal', delayS: 0, noise: 0 }],
  ['equal, 10 min', { sizes: 'equal', delayS: 10 * MINUTE_S, noise: 0 }],
  ['equal, 60 min', { sizes: 'equal', delayS: 60 * MINUTE_S, noise: 0 }],
  ['random, no wait', { sizes: 'random', delayS: 0, noise: 0 }],
  ['random, 10 min', { sizes: 'random', delayS: 10 * MINUTE_S, noise: 0 }],
  ['random, 60 min', { sizes: 'random', delayS: 60 * MINUTE_S, noise: 0 }],
  ['random, 10 min, ±1 %', { sizes: 'random', delayS: 10 * MINUTE_S, noise: 0.01 }],
  ['random, 60 min, ±1 %', { sizes: 'random', delayS: 60 * MINUTE_S, noise: 0.01 }],
  ['random, 60 min, ±3 %', { sizes: 'random', delayS: 60 * MINUTE_S, noise: 0.03 }],
]

console.log(`| a hundred within | ${columns.map(([name]) => name).join(' | ')} |`)
console.log(`|---|${columns.map(() => '---').join('|')}|`)
for (const [name, arriveS] of arrivals) {
  const rates = columns.map(([, it]) => `${(100 * hitRate({ ...it, arriveS }, ROUNDS)).toFixed(0)} %`)
  console.log(`| ${name} | ${rates.join(' | ')} |`)
}
