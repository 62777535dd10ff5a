import pg from 'pg'
import type { App } from './infrastructure.ts'

/**
 * What the worker beside an API process has found wrong: alarms and pauses. It must be nothing, because in production nothing is measured
 * while payouts are paused. The comparison with the nodes reports what it finds twice, a minute apart.
 */
export async function listAlarms({ urls }: App): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: urls.owner })
  await client.connect()
  try {
    const { rows } = await client.query<{ text: string }>(
      `select subject || ': ' || alarm || ' ' || detail as text from alarms
       union all select 'paused ' || scope || ': ' || reason from pauses order by 1`,
    )
    return rows.map(({ text }) => text)
  } finally {
    await client.end()
  }
}
