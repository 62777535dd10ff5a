import { until } from '../support/until.ts'
import { createNodeBalances } from './balances.ts'
import { checkAlarms } from './check-alarms.ts'
import { checkCredits } from './check-credits.ts'
import { checkDues } from './check-dues.ts'
import { checkIncome } from './check-income.ts'
import { checkLedger, listPersistent } from './check-ledger.ts'
import { checkNonces } from './check-nonces.ts'
import { checkStatuses } from './check-statuses.ts'
import type { Client } from './client.ts'
import { type Customers, isInBlock, isInPool, type Payment, type Purchase } from './customers.ts'
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
    return lines.length > 0 ? lines : listPooled(fleet, purchases)
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

/**
 * Payments that a reorganisation returned to the pool. An exchange that is finished stays so, and the block that includes its
 * payment again changes the wallet during the checks.
 */
async function listPooled(fleet: Fleet, purchases: readonly Purchase[]): Promise<readonly string[]> {
  const lines: string[] = []
  for (const payment of purchases.flatMap(({ payments }) => payments))
    if (await isInPool(fleet, payment)) lines.push(`payment ${payment.hash} of ${payment.network} is in the pool`)
  return lines
}

/** False if the payment was double-spent: it never confirms, and the exchange stays open until it expires. */
async function canProgress(fleet: Fleet, purchases: readonly Purchase[], open: Open): Promise<boolean> {
  const { id, status, tx_hash, leg } = open
  // The app pays the second leg and rebroadcasts that payment until it confirms.
  if (leg > 0) return true
  if (tx_hash !== null && status !== 'pending') return true
  const payments = purchases.find((one) => one.id === id)?.payments ?? []
  for (const payment of payments)
    if (tx_hash === null || payment.hash === tx_hash)
      if ((await isInBlock(fleet, payment)) || (await isInPool(fleet, payment))) return true
  return false
}

/** Which payments are in blocks of the best chains now. */
export async function readInclusions(
  fleet: Fleet,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<Payment, boolean>> {
  const onChain = new Map<Payment, boolean>()
  for (const payment of purchases.flatMap(({ payments }) => payments))
    onChain.set(payment, await isInBlock(fleet, payment))
  return onChain
}

/**
 * Compares the chains and the app's answers and ledger with the customers' own records. Nothing may be under way, and `onChain`
 * must be true until the end: the caller repeats the checks if a block has changed it.
 */
export async function collectFindings(
  fleet: Fleet,
  client: Client,
  customers: Customers,
  unfinished: readonly string[],
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<Findings> {
  const { purchases } = customers
  const { paidTwice, short } = await checkDues(fleet, customers, onChain)
  const { lost, unreported } = await checkStatuses(client, customers, onChain, fleet)
  const findings: Findings = {
    paidTwice: [...paidTwice, ...(await checkRepeatedPayouts(fleet))],
    lost: [...unfinished, ...short, ...lost],
    wrongCredits: await checkCredits(fleet.database, createNodeBalances(fleet), purchases, onChain),
    imbalance: [...(await checkLedger(fleet, purchases, onChain)), ...(await checkIncome(fleet, customers, onChain))],
    other: [
      ...unreported,
      ...customers.disputes(),
      ...(await listPersistent(() => checkNonces(fleet))),
      ...client.unexpectedReplies(),
      ...fleet.interruptions.listOpen(),
      ...fleet.interruptions.listExcess(),
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
