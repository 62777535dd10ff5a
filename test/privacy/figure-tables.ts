import { privacyDefaults } from '../../server/src/exchange/settings.ts'
import { measureHitRate } from './model.ts'
import type { Case } from './simulation.ts'

/** A table of docs/private-exchanges.md. The header and the names of rows and columns are those of the document. */
type FigureTable = Readonly<{ header: string; rows: readonly FigureRow[] }>
type FigureRow = Readonly<{ name: string; cases: readonly Case[] }>

/** Simulations of a figure. Their seeds are 1, 2, …: every run gives the same figures. */
const ROUNDS = 50
const MINUTE_S = 60
const DEFAULT_DELAY_MIN = privacyDefaults.delayMaxMs / 60_000
const intermediaries: readonly (readonly [string, Case['intermediary']])[] = [
  ['Litecoin, transparent (`efficient`)', 'ltc'],
  ['Monero, hidden (`privatePlus`)', 'xmr'],
]
const arrivals: readonly (readonly [string, number])[] = [
  ['10 minutes', 10 * MINUTE_S],
  ['an hour', 60 * MINUTE_S],
  ['a day', 1_440 * MINUTE_S],
]
const defaults = { delayS: DEFAULT_DELAY_MIN * MINUTE_S, noise: 0, isPartWithheld: true }

type Column = Readonly<{ name: string; sizes: Case['sizes'] }> &
  Partial<Pick<Case, 'delayS' | 'noise' | 'isPartWithheld' | 'feed'>>
type Setting = Omit<Column, 'sizes'>

const delays: readonly Setting[] = [
  { name: 'no delay', delayS: 0 },
  { name: `delay to ${DEFAULT_DELAY_MIN} min` },
  { name: 'to 60 min', delayS: 60 * MINUTE_S },
]
const variations: readonly Setting[] = [
  { name: `to ${DEFAULT_DELAY_MIN} min, ±1 %`, noise: 0.01 },
  { name: 'to 60 min, ±1 %', delayS: 60 * MINUTE_S, noise: 0.01 },
  { name: 'to 60 min, ±3 %', delayS: 60 * MINUTE_S, noise: 0.03 },
  { name: 'to 60 min, ±3 %, nothing withheld', delayS: 60 * MINUTE_S, noise: 0.03, isPartWithheld: false },
]
/** What the analyst reads of the reserves, which are 300 to 3 000 times a payment. */
const feeds: readonly Setting[] = [
  { name: 'no reserves' },
  { name: 'exact', feed: { figures: 'exact', reserve: 3_000 } },
  { name: 'published', feed: { figures: 'published', reserve: 3_000 } },
]
const withFeeds = (column: Omit<Column, 'name'>): readonly Column[] => feeds.map((feed) => ({ ...column, ...feed }))

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** `through`: without it the table has Monero alone, and no column for the intermediary. */
function createTable(columns: readonly Column[], through: typeof intermediaries | null): FigureTable {
  const rows = (through ?? intermediaries.filter(([, intermediary]) => intermediary === 'xmr')).flatMap(
    ([intermediaryName, intermediary]) =>
      arrivals.map(([arrivalName, arriveS]) => ({
        name: through === null ? arrivalName : `${intermediaryName} | ${arrivalName}`,
        cases: columns.map(({ name: _, ...column }) => ({ ...defaults, ...column, intermediary, arriveS })),
      })),
  )
  const names = columns.map(({ sizes, name }) => `${sizes}, ${name}`)
  return { header: lineOf([...(through === null ? [] : ['intermediary']), 'a hundred within', ...names]), rows }
}

export const figureTables = {
  delays: createTable(
    (['equal', 'random'] as const).flatMap((sizes) => delays.map((column) => ({ ...column, sizes }))),
    intermediaries,
  ),
  variations: createTable(
    variations.map((column) => ({ ...column, sizes: 'random' })),
    intermediaries,
  ),
  reserves: createTable(
    [
      ...withFeeds({ sizes: 'equal', delayS: 60 * MINUTE_S }),
      ...withFeeds({ sizes: 'random', delayS: 60 * MINUTE_S, noise: 0.03 }),
    ],
    null,
  ),
} satisfies Readonly<Record<string, FigureTable>>

/** A cell of a table. */
export const measureFigure = (one: Case): string => `${(100 * measureHitRate(one, ROUNDS)).toFixed(0)} %`

export const renderRow = ({ name, cases }: FigureRow): string => lineOf([name, ...cases.map(measureFigure)])
