import type { Scenario } from '../support/scenario.ts'
import type { ObservedRun } from './observe-run.ts'

/** A payout of one leg: time from its creation to its block, and the delay that was drawn for it. */
export type PayoutDelay = Readonly<{ txHash: string; afterMs: number; drawnMs: number }>

/** Reads the delays of payouts on public chains. Block times are whole seconds, so they are rounded up: no payout looks too early. */
export async function readPayoutDelays(
  scenario: Scenario,
  { pairs, observer }: ObservedRun,
): Promise<readonly PayoutDelay[]> {
  const rows = await scenario.app.database.query<{ id: string; leg: number; created: string; drawn: number }>(
    `select p.exchange_id as id, p.leg, extract(epoch from p.created_at) * 1000 as created, (e.plan->'delaysMs'->p.leg)::int as drawn
     from payouts p join exchanges e on e.id = p.exchange_id where e.plan is not null and p.purpose = 'payout'`,
  )
  const blockTimes = new Map(observer.movements.map(({ txHash, time }) => [txHash, time]))
  const pairById = new Map(pairs.map((pair) => [pair.id, pair]))
  return rows.flatMap(({ id, leg, created, drawn }) => {
    const pair = pairById.get(id)
    const txHash = (leg === 0 ? pair?.firstPayoutHash : pair?.secondPayoutHash) ?? ''
    const time = blockTimes.get(txHash)
    // The observer reads no transactions of Monero.
    return time === undefined ? [] : [{ txHash, afterMs: (time + 1) * 1_000 - Number(created), drawnMs: drawn }]
  })
}
