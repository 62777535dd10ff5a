import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import type { NodeBalances } from '../support/holdings.ts'
import type { Payment, Purchase } from './customers.ts'

/** Checks that every credited deposit is a confirmed payment with its exact amount. Deposits booked as losses do not count. */
export async function checkCredits(
  database: Sql,
  nodes: NodeBalances,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<string[]> {
  const customerPayments = new Map(
    purchases.flatMap(({ id, payments }) => payments.map((payment) => [`${id} ${payment.hash}`, payment] as const)),
  )
  const rows = await database.query<{ exchange_id: string; tx_hash: string; credited_units: string }>(
    "select exchange_id, tx_hash, credited_units from deposits where status = 'credited' and exchange_id is not null and leg = 0",
  )
  const legs = await checkLegs(database, nodes)
  const deposits = rows.flatMap(({ exchange_id, tx_hash, credited_units }) => {
    const payment = customerPayments.get(`${exchange_id} ${tx_hash}`)
    if (payment === undefined) return [`payment ${tx_hash} is credited, and no customer made it`]
    if (!onChain.get(payment)) return [`payment ${tx_hash} is credited, and no chain has it`]
    return payment.units === BigInt(credited_units)
      ? []
      : [`payment ${tx_hash} of ${payment.units} is credited as ${credited_units}`]
  })
  return [...deposits, ...legs]
}

/**
 * Checks that the deposit of a second leg is a confirmed payout of the first and credited once, with the amount that the node
 * shows. No node shows amounts of Monero: there it must be the amount of the payout.
 */
async function checkLegs(database: Sql, nodes: NodeBalances): Promise<string[]> {
  const faults: string[] = []
  for (const row of await database.query<LegRow>(LEGS)) {
    const { network, tx_hash: txHash, address, contract, credited_units: credited, times } = row
    const described = `payment ${txHash} between two legs`
    if (row.paid === null) faults.push(`${described} is credited, and the app did not make it`)
    else if (times !== '1') faults.push(`${described} is credited ${times} times`)
    else {
      const payment = { txHash, address, contract, keyIndex: null }
      const paid = network === 'xmr' ? BigInt(row.paid) : await nodes.received(network, payment)
      if (paid !== BigInt(credited))
        faults.push(`payment ${txHash} of ${paid} between two legs is credited as ${credited}`)
    }
  }
  return faults
}

const LEGS = `select d.network, d.tx_hash, d.address, d.contract, d.credited_units, p.units as paid,
    count(*) over (partition by p.id) as times
  from deposits d join executions x on x.deposit_id = d.id
  left join payouts p on p.execution_id = x.source_execution and p.state = 'confirmed' and p.address = d.address
    and exists (select 1 from attempts a where a.transaction_id = p.transaction_id and a.tx_hash = d.tx_hash)
  where d.status = 'credited' and d.leg > 0`
type LegRow = Readonly<{
  network: string
  tx_hash: string
  address: string
  contract: string | null
  credited_units: string
  paid: string | null
  times: string
}>
