import type { Scenario } from '../support/scenario.ts'
import type { Watched } from './watched.ts'

/** A payment of ours for one leg: how long after it was due it is in a block, and how long it had to wait. */
export type Waited = Readonly<{ txHash: string; afterMs: number; drawnMs: number }>

/** What public chains show of the waits. Times of blocks are whole seconds: rounded up, so that none seems too early. */
export async function waitsOf(scenario: Scenario, { pairs, observer }: Watched): Promise<readonly Waited[]> {
  const rows = await scenario.app.database.query<{ id: string; leg: number; due: string; drawn: number }>(
    `select p.exchange_id as id, p.leg, extract(epoch from p.created_at) * 1000 as due, (e.plan->'delaysMs'->p.leg)::int as drawn
     from payouts p join exchanges e on e.id = p.exchange_id where e.plan is not null and p.purpose = 'payout'`,
  )
  const times = new Map(observer.movements.map(({ txHash, time }) => [txHash, time]))
  const pairOf = new Map(pairs.map((pair) => [pair.id, pair]))
  return rows.flatMap(({ id, leg, due, drawn }) => {
    const pair = pairOf.get(id)
    const txHash = (leg === 0 ? pair?.between : pair?.paidBy) ?? ''
    const time = times.get(txHash)
    // Monero shows none.
    return time === undefined ? [] : [{ txHash, afterMs: (time + 1) * 1_000 - Number(due), drawnMs: drawn }]
  })
}
