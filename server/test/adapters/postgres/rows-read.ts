import type { Sql } from '../../../src/adapters/postgres/core/database.ts'

export type Recorded = Readonly<{ text: string; values: readonly unknown[] }>

type Plan = Readonly<{
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: readonly Plan[]
}>

/** Rows that the scans of tables have read, and rows that joins have compared and dropped. A subquery scan reads no table. */
function rowsRead(plan: Plan): number {
  const dropped = (plan['Rows Removed by Join Filter'] ?? 0) * plan['Actual Loops']
  const own = /(?<!Subquery )Scan/.test(plan['Node Type'])
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)) *
      plan['Actual Loops']
    : 0
  return own + dropped + (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0)
}

/** What these queries read, by their plans. */
export async function countRowsRead(sql: Sql, queries: readonly Recorded[]): Promise<number> {
  let total = 0
  for (const { text, values } of queries) {
    const [row] = await sql.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    )
    for (const { Plan: plan } of row?.['QUERY PLAN'] ?? []) total += rowsRead(plan)
  }
  return total
}
