import { type Hex, parseUnits } from 'viem'
import { decimalsOf } from '../support/published-prices.ts'
import { until } from '../support/until.ts'
import { listPayers, readBalances } from './balances.ts'
import { checkAlarms } from './check-alarms.ts'
import { checkDues, checkIncome } from './check-dues.ts'
import { checkLedger, listPersistent } from './check-ledger.ts'
import type { Client } from './client.ts'
import { type Customers, isInBlock, isInBlockOrPool, type Payment, type Purchase } from './customers.ts'
import type { Fleet } from './fleet.ts'

/** What the app did wrong, one sentence each. Must be empty. */
export type Findings = Readonly<{
  paidTwice: readonly string[]
  lost: readonly string[]
  wrongCredits: readonly string[]
  imbalance: readonly string[]
  other: readonly string[]
}>

export const listFindings = (findings: Findings): readonly string[] =>
  Object.entries(findings).flatMap(([kind, lines]) => lines.map((line: string) => `${kind}: ${line}`))

/** Exchanges that are not closed, with the hash of their deposit; null = no deposit is recorded. */
const OPEN = `select e.id, coalesce(x.status, e.status) as status, d.tx_hash, coalesce(x.leg, 0) as leg from exchanges e
  left join executions x on x.exchange_id = e.id left join deposits d on d.id = x.deposit_id
  where e.id = any($1::uuid[]) and (x.id is null or x.status not in ('finished', 'refunded', 'failed'))`
type Open = Readonly<{ id: string; status: string; tx_hash: string | null; leg: number }>
/** Confirmed transactions are included: until they are final, a reorganisation can remove them. */
const UNFINISHED = `select 'transaction ' || id || ' ' || state as what from transactions where state in ('live', 'confirmed')
  union all select purpose || ' ' || id || ' ' || state from payouts where state in ('reserved', 'signed')`

/** How often progress may restart the time limit. Bounds an endless cycle. */
const EXTENSIONS_MAX = 8

/**
 * Waits until every paid exchange is closed and no transaction is under way. Returns what is still open after `timeoutMs`
 * without progress. The limit counts from the last progress, because a slow machine needs longer for the same work.
 */
export async function waitUntilIdle(
  fleet: Fleet,
  purchases: readonly Purchase[],
  rebroadcast: () => Promise<void>,
  timeoutMs: number,
): Promise<readonly string[]> {
  const end = Date.now() + EXTENSIONS_MAX * timeoutMs
  let open: readonly string[] = []
  let failure: unknown = null
  let changedAt = Date.now()
  const readOpen = async (): Promise<readonly string[]> => {
    await rebroadcast()
    const paid = purchases.filter(({ payments }) => payments.length > 0).map(({ id }) => id)
    const unfinished = await fleet.database.query<{ what: string }>(UNFINISHED)
    const lines = unfinished.map(({ what }) => `${what} is under way`)
    for (const exchange of await fleet.database.query<Open>(OPEN, [paid]))
      if (await canProgress(fleet, purchases, exchange)) lines.push(`exchange ${exchange.id} is ${exchange.status}`)
    return lines
  }
  const isIdleOrStuck = async () => {
    try {
      const lines = await readOpen()
      if (lines.toSorted().join() !== open.toSorted().join()) changedAt = Date.now()
      open = lines
      failure = null
    } catch (error) {
      // Connections may still fail directly after the last fault. A failure that lasts is thrown below.
      failure = error
    }
    const isOver = Date.now() > Math.min(end, changedAt + timeoutMs)
    return isOver || (failure === null && open.length === 0)
  }
  await until('everything is done', isIdleOrStuck, end + timeoutMs - Date.now())
  if (failure !== null) throw failure
  return open
}

/** False if the payment was double-spent: it never confirms, and the exchange stays open until it expires. */
async function canProgress(fleet: Fleet, purchases: readonly Purchase[], open: Open): Promise<boolean> {
  const { id, status, tx_hash, leg } = open
  // The app pays the second leg and rebroadcasts that payment until it confirms.
  if (leg > 0) return true
  if (tx_hash !== null && status !== 'pending') return true
  const payments = purchases.find((one) => one.id === id)?.payments ?? []
  for (const payment of payments)
    if ((tx_hash === null || payment.hash === tx_hash) && (await isInBlockOrPool(fleet, payment))) return true
  return false
}

/** Compares the chains and the app's answers and ledger with the customers' own records. Nothing may be under way. */
export async function collectFindings(
  fleet: Fleet,
  client: Client,
  customers: Customers,
  unfinished: readonly string[],
): Promise<Findings> {
  const { purchases } = customers
  const onChain = new Map<Payment, boolean>()
  for (const payment of purchases.flatMap((purchase) => purchase.payments))
    onChain.set(payment, await isInBlock(fleet, payment))
  const { paidTwice, short } = await checkDues(fleet, customers, onChain)
  const { lost, unreported } = await checkStatuses(client, customers, onChain, fleet)
  const findings: Findings = {
    paidTwice: [...paidTwice, ...(await checkRepeatedPayouts(fleet))],
    lost: [...unfinished, ...short, ...lost],
    wrongCredits: await checkCredits(fleet, purchases, onChain),
    imbalance: [...(await checkLedger(fleet, purchases, onChain)), ...(await checkIncome(fleet, customers, onChain))],
    other: [
      ...unreported,
      ...customers.disputes(),
      ...(await listPersistent(() => checkNonces(fleet))),
      ...client.unexpectedReplies(),
    ],
  }
  // Where something is wrong anyway, no alarm needs time to end.
  const alarms = await checkAlarms(fleet, customers, listFindings(findings).length === 0)
  return { ...findings, other: [...findings.other, ...alarms] }
}

/** Two payouts of one execution, also if the chain has only one of them. */
async function checkRepeatedPayouts({ database }: Fleet): Promise<string[]> {
  const rows = await database.query<{ address: string; payouts: string }>(
    `select max(address) as address, count(*) as payouts from payouts
     where purpose in ('payout', 'refund') and state in ('reserved', 'signed', 'confirmed')
     group by execution_id having count(*) > 1`,
  )
  return rows.map(({ address, payouts }) => `${payouts} payouts of one execution to ${address}`)
}

/**
 * Checks that the API reports each confirmed payment as finished or refunded, the amount that the recipient holds, and every
 * transaction that paid one of the customer's addresses.
 */
async function checkStatuses(
  client: Client,
  customers: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
  fleet: Fleet,
): Promise<{ lost: string[]; unreported: string[] }> {
  const { purchases } = customers
  const lost: string[] = []
  const unreported: string[] = []
  const received = purchases.map(({ to, recipient }) => [to, recipient] as const)
  const balances = await readBalances(fleet, received)
  const payers = await listPayers(fleet, [...received, ...purchases.map(({ from, refund }) => [from, refund] as const)])
  for (const { id, from, to, recipient, refund, payments, terms } of purchases) {
    const { status, body } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)
    if (status !== 200) lost.push(`the status of exchange ${id} is answered with ${status}`)
    const items: Item[] = body?.exchange?.exchanges ?? []
    for (const payment of payments.filter((one) => onChain.get(one) && one.units > 0n)) {
      const item = items.find(({ payinHash }) => payinHash === payment.hash)
      const isDust = payment.units <= customers.published.refundFee(from).most && item?.statusReason === 'DUST'
      if (!item || !(isDust || ['finished', 'refunded'].includes(item.status)))
        lost.push(`payment ${payment.hash} of exchange ${id} is ${item?.status ?? 'unknown'}`)
    }
    const isPrivate = terms.privateType !== null
    const finished = items.filter((item) => item.status === 'finished' && (!isPrivate || isLastLeg(item, items)))
    const reported = finished.reduce(
      (sum, { amountToReceived }) => sum + parseUnits(amountToReceived ?? '0', decimalsOf(to)),
      0n,
    )
    const balance = balances.get(`${to} ${recipient}`) ?? 0n
    if (balance !== reported) lost.push(`exchange ${id} reports ${reported} of ${to}, and ${recipient} has ${balance}`)
    const hashes = items.flatMap(({ payoutHash, refund: back }) => [payoutHash, back?.hash])
    for (const address of [recipient, refund])
      for (const hash of payers.get(address) ?? [])
        if (!hashes.includes(hash)) unreported.push(`${hash} paid ${address}, and exchange ${id} does not report it`)
  }
  return { lost, unreported }
}

type Item = Readonly<{
  payinHash: string
  payoutHash: string | null
  refund: { hash: string | null } | null
  status: string
  statusReason: string | null
  amountToReceived: string | null
}>

/** The deposit of the last leg is the payout of the first leg. */
const isLastLeg = ({ payinHash }: Item, items: readonly Item[]): boolean =>
  items.some(({ payoutHash }) => payoutHash === payinHash)

/** Checks that every credited deposit is a confirmed payment with its exact amount. Deposits booked as losses do not count. */
async function checkCredits(
  fleet: Fleet,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<string[]> {
  const customerPayments = new Map(
    purchases.flatMap(({ id, payments }) => payments.map((payment) => [`${id} ${payment.hash}`, payment] as const)),
  )
  const rows = await fleet.database.query<{ exchange_id: string; tx_hash: string; credited_units: string }>(
    "select exchange_id, tx_hash, credited_units from deposits where status = 'credited' and exchange_id is not null and leg = 0",
  )
  const legs = await checkLegs(fleet)
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

/** Checks that the deposit of a second leg is a confirmed payout of the first, with its amount, and credited once. */
async function checkLegs({ database }: Fleet): Promise<string[]> {
  const rows = await database.query<{ tx_hash: string; credited_units: string; paid: string | null; times: string }>(
    `select d.tx_hash, d.credited_units, p.units as paid, count(*) over (partition by p.id) as times
     from deposits d join executions x on x.deposit_id = d.id
     left join payouts p on p.execution_id = x.source_execution and p.state = 'confirmed' and p.address = d.address
       and exists (select 1 from attempts a where a.transaction_id = p.transaction_id and a.tx_hash = d.tx_hash)
     where d.status = 'credited' and d.leg > 0`,
  )
  return rows.flatMap(({ tx_hash, credited_units, paid, times }) => {
    if (paid === null) return [`payment ${tx_hash} between two legs is credited, and the app did not make it`]
    if (times !== '1') return [`payment ${tx_hash} between two legs is credited ${times} times`]
    return paid === credited_units
      ? []
      : [`payment ${tx_hash} of ${paid} between two legs is credited as ${credited_units}`]
  })
}

/** Checks that nonces start at 0, have no gap or reuse, and that the chain has used as many (I-26). */
async function checkNonces({ database, cluster, chains }: Fleet): Promise<string[]> {
  const errors: string[] = []
  const lanes = await database.query<{ network: string; address: string; next: string }>(
    'select network, address, next from nonce_lanes',
  )
  for (const { network, address, next } of lanes) {
    if (chains.get(network)?.network.family !== 'evm') continue
    const rows = await database.query<{ nonce: string }>(
      "select split_part(conflict_key, ':', 2) as nonce from transactions where network = $1 and wallet = $2 and state <> 'expired' order by split_part(conflict_key, ':', 2)::bigint",
      [network, address],
    )
    const contiguous = rows.every(({ nonce }, n) => nonce === String(n)) && rows.length === Number(next)
    const used = Number(await cluster.call(network, 'eth_getTransactionCount', [address as Hex, 'latest']))
    const lane = `${rows.length} transactions, lane at ${next}, chain at ${used}`
    if (!contiguous) errors.push(`a gap in the nonces of ${address} on ${network}: ${lane}`)
    else if (used !== Number(next)) errors.push(`${network} has another number of nonces of ${address}: ${lane}`)
  }
  return errors
}
