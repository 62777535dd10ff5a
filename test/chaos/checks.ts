import { type Hex, parseUnits } from 'viem'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { until } from '../support/until.ts'
import type { Client } from './client.ts'
import { decimalsOf, isAlive, type Payment, type Purchase, stands } from './customers.ts'
import type { Fleet } from './fleet.ts'
import { addressesHold, bitcoinHolds } from './holdings.ts'
import { moneroHolds } from './monero.ts'

/** What must be empty. Each line says what was found, for whoever reads the report. */
export type Findings = Readonly<{
  paidTwice: readonly string[]
  lost: readonly string[]
  wrongCredits: readonly string[]
  imbalance: readonly string[]
  other: readonly string[]
}>

export const allFindings = (findings: Findings): readonly string[] =>
  Object.entries(findings).flatMap(([kind, lines]) => lines.map((line: string) => `${kind}: ${line}`))

/** Exchanges with something open, by the hash of its deposit; null = nothing has been seen of it at all. */
const OPEN = `select e.id, coalesce(x.status, e.status) as status, d.tx_hash, coalesce(x.leg, 0) as leg from exchanges e
  left join executions x on x.exchange_id = e.id left join deposits d on d.id = x.deposit_id
  where e.id = any($1::uuid[]) and (x.id is null or x.status not in ('finished', 'refunded', 'failed'))`
type Open = Readonly<{ id: string; status: string; tx_hash: string | null; leg: number }>
/** What has its confirmations and is not final may be taken away by a reorganisation, and comes back. */
const MOVING = `select 'transaction ' || id || ' ' || state as what from transactions where state in ('live', 'confirmed')
  union all select purpose || ' ' || id || ' ' || state from payouts where state in ('reserved', 'signed')`

/** How often the time begins anew: who goes round in circles has an end, too. */
const PATIENCES_MAX = 8

/**
 * After the faults are off: waits until everything that was paid is done, and nothing is on its way. Answers what is not,
 * after this time in which nothing moved: how much there is to do, a slow machine decides.
 */
export async function comeToRest(
  fleet: Fleet,
  purchases: readonly Purchase[],
  offerAgain: () => Promise<void>,
  timeoutMs: number,
): Promise<readonly string[]> {
  const end = Date.now() + PATIENCES_MAX * timeoutMs
  let left: readonly string[] = []
  let movedAt = Date.now()
  const look = async () => {
    const before = left.toSorted().join()
    await offerAgain()
    const paid = purchases.filter(({ payments }) => payments.length > 0).map(({ id }) => id)
    const moving = await fleet.database.query<{ what: string }>(MOVING)
    left = moving.map(({ what }) => `${what} is under way`)
    for (const open of await fleet.database.query<Open>(OPEN, [paid]))
      if (await mayMove(fleet, purchases, open)) left = [...left, `exchange ${open.id} is ${open.status}`]
    if (left.toSorted().join() !== before) movedAt = Date.now()
    return left.length === 0 || Date.now() > movedAt + timeoutMs
  }
  await until('everything is done', () => look().catch(() => false), end - Date.now()).catch(() => undefined)
  return left
}

/** What nobody has any more comes to nothing: a double spend's exchange waits for the rest of its day. */
async function mayMove(fleet: Fleet, purchases: readonly Purchase[], open: Open): Promise<boolean> {
  const { id, status, tx_hash, leg } = open
  // The payment between two legs is the app's own: it is offered until it stands.
  if (leg > 0) return true
  if (tx_hash !== null && status !== 'pending') return true
  const payments = purchases.find((one) => one.id === id)?.payments ?? []
  for (const payment of payments)
    if ((tx_hash === null || payment.hash === tx_hash) && (await isAlive(fleet, payment))) return true
  return false
}

/** Compares what the app says with what the chains hold and with what the customers know. Nothing may be under way. */
export async function judge(
  fleet: Fleet,
  client: Client,
  purchases: readonly Purchase[],
  unfinished: readonly string[],
): Promise<Findings> {
  const { paidTwice, short } = await judgePayouts(fleet, purchases)
  const onChain = new Map<Payment, boolean>()
  for (const payment of purchases.flatMap((purchase) => purchase.payments))
    onChain.set(payment, await stands(fleet, payment))
  return {
    paidTwice,
    lost: [...unfinished, ...short, ...(await judgeCustomers(client, purchases, onChain, fleet))],
    wrongCredits: await judgeCredits(fleet, purchases, onChain),
    imbalance: await judgeBooks(fleet),
    other: [...(await standing(() => judgeNonces(fleet))), ...(await judgeAlarms(fleet)), ...client.wrong()],
  }
}

type PaidRow = { address: string; asset_id: AssetId; due: string; paid: string; executions: string; payouts: string }

/** By address: what is due to it, what is said to be paid, and what it holds. Every address is used once. */
async function judgePayouts(
  fleet: Fleet,
  purchases: readonly Purchase[],
): Promise<{ paidTwice: string[]; short: string[] }> {
  const rows = await fleet.database.query<PaidRow>(
    `select address, asset_id, sum(units) as due, coalesce(sum(units) filter (where state = 'confirmed'), 0) as paid,
       count(*) as payouts, count(distinct execution_id) as executions
     from payouts where purpose in ('payout', 'refund') and state in ('reserved', 'signed', 'confirmed')
     group by address, asset_id`,
  )
  const booked = new Map(rows.map((row) => [`${row.asset_id} ${row.address}`, row]))
  const wanted = purchases.flatMap(
    ({ from, to, recipient, refund }) =>
      [
        [to, recipient],
        [from, refund],
      ] as const,
  )
  const holds = await addressesHold(fleet, wanted)
  const paidTwice = rows.flatMap((row) =>
    row.payouts === row.executions ? [] : [`${row.payouts} payouts of ${row.executions} executions to ${row.address}`],
  )
  const short: string[] = []
  for (const [asset, address] of wanted) {
    const held = holds.get(`${asset} ${address}`) ?? 0n
    const row = booked.get(`${asset} ${address}`)
    const [due, paid] = [BigInt(row?.due ?? 0), BigInt(row?.paid ?? 0)]
    if (held > due) paidTwice.push(`${address} got ${held} of ${asset}, and ${due} was due`)
    if (held < paid) short.push(`${address} got ${held} of ${asset}, and ${paid} is said to be paid`)
  }
  return { paidTwice, short }
}

/** As a partner sees it: every payment that stands is finished or went back, and the recipient has what the API says. */
async function judgeCustomers(
  client: Client,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
  fleet: Fleet,
): Promise<string[]> {
  const lost: string[] = []
  const holds = await addressesHold(
    fleet,
    purchases.map(({ to, recipient }) => [to, recipient] as const),
  )
  for (const { id, to, recipient, payments, isPrivate } of purchases) {
    const { status, body } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)
    if (status !== 200) lost.push(`exchange ${id} answers ${status}`)
    const items: Item[] = body?.exchange?.exchanges ?? []
    for (const payment of payments.filter((one) => onChain.get(one) && one.units > 0n)) {
      const item = items.find(({ payinHash }) => payinHash === payment.hash)
      if (!item || !['finished', 'refunded'].includes(item.status))
        lost.push(`payment ${payment.hash} of exchange ${id} is ${item?.status ?? 'unknown'}`)
    }
    const finished = items.filter((item) => item.status === 'finished' && (!isPrivate || isLastLeg(item, items)))
    const said = finished.reduce(
      (sum, { amountToReceived }) => sum + parseUnits(amountToReceived ?? '0', decimalsOf(to)),
      0n,
    )
    const held = holds.get(`${to} ${recipient}`) ?? 0n
    if (held !== said) lost.push(`exchange ${id} says ${said} of ${to}, and ${recipient} has ${held}`)
  }
  return lost
}

type Item = Readonly<{ payinHash: string; payoutHash: string | null; status: string; amountToReceived: string | null }>

/** A last leg's deposit is a first leg's payout. */
const isLastLeg = ({ payinHash }: Item, items: readonly Item[]): boolean =>
  items.some(({ payoutHash }) => payoutHash === payinHash)

/** Nothing is counted but payments that stand, with what they brought. What is booked as a loss is not counted any more. */
async function judgeCredits(
  fleet: Fleet,
  purchases: readonly Purchase[],
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<string[]> {
  const known = new Map(
    purchases.flatMap(({ id, payments }) => payments.map((payment) => [`${id} ${payment.hash}`, payment] as const)),
  )
  const rows = await fleet.database.query<{ exchange_id: string; tx_hash: string; credited_units: string }>(
    "select exchange_id, tx_hash, credited_units from deposits where status = 'credited' and exchange_id is not null and leg = 0",
  )
  const legs = await judgeLegs(fleet)
  const deposits = rows.flatMap(({ exchange_id, tx_hash, credited_units }) => {
    const payment = known.get(`${exchange_id} ${tx_hash}`)
    if (payment === undefined) return [`a payment ${tx_hash} that nobody made is counted`]
    if (!onChain.get(payment)) return [`payment ${tx_hash} is counted and on no chain`]
    return payment.units === BigInt(credited_units)
      ? []
      : [`payment ${tx_hash} brought ${payment.units} and counts as ${credited_units}`]
  })
  return [...deposits, ...legs]
}

/** A second leg's deposit is a payout of the first that was paid, to the unit, and no payout is the deposit of two. */
async function judgeLegs({ database }: Fleet): Promise<string[]> {
  const rows = await database.query<{ tx_hash: string; credited_units: string; paid: string | null; times: string }>(
    `select d.tx_hash, d.credited_units, p.units as paid, count(*) over (partition by p.id) as times
     from deposits d join executions x on x.deposit_id = d.id
     left join payouts p on p.execution_id = x.source_execution and p.state = 'confirmed' and p.address = d.address
       and exists (select 1 from attempts a where a.transaction_id = p.transaction_id and a.tx_hash = d.tx_hash)
     where d.status = 'credited' and d.leg > 0`,
  )
  return rows.flatMap(({ tx_hash, credited_units, paid, times }) => {
    if (paid === null) return [`the payment ${tx_hash} between two legs is counted, and is none of the app's`]
    if (times !== '1') return [`the payment ${tx_hash} between two legs is counted ${times} times`]
    return paid === credited_units
      ? []
      : [`the payment ${tx_hash} between two legs paid ${paid}, not ${credited_units}`]
  })
}

async function judgeBooks(fleet: Fleet): Promise<string[]> {
  const { database, store } = fleet
  const found = (await store.reconciliation.imbalance()).map(
    ({ assetId, units }) => `${assetId} is out of balance by ${units}`,
  )
  const owing = await database.query<{ account: string; asset_id: string; units: string }>(
    `select b.account, b.asset_id, b.units from balances b join exchanges e on b.account = 'liability:exchange:' || e.id
     where b.units <> 0 and not exists (select 1 from executions x where x.exchange_id = e.id and x.status not in ('finished', 'failed', 'refunded'))`,
  )
  found.push(
    ...owing.map(({ account, asset_id, units }) => `${account} of a closed exchange owes ${units} of ${asset_id}`),
  )
  return [...found, ...(await standing(() => walletDifferences(fleet)))]
}

/** A sweep or a block may come between two reads: what counts stands still. */
async function standing(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let found: readonly string[] = []
  const isNothing = async () => {
    found = await look()
    return found.length === 0
  }
  await until('nothing is found', isNothing, 20_000).catch(() => undefined)
  return found
}

async function walletDifferences(fleet: Fleet): Promise<string[]> {
  const found: string[] = []
  const ledger = await fleet.store.ledger.balances('asset:wallet')
  for (const { asset, network } of fleet.catalogue.list()) {
    const chain = fleet.chains.get(asset.network)
    if (!chain) continue
    const says = ledger.get(asset.id) ?? 0n
    const holds =
      network.family === 'bitcoin'
        ? await bitcoinHolds(fleet, asset.network)
        : network.family === 'monero'
          ? await moneroHolds(fleet)
          : await chain.reader.balance(chain.addresses.hot(), asset)
    if (says !== holds) found.push(`the ledger says ${says} of ${asset.id}, the wallet holds ${holds}`)
  }
  return found
}

/** Nonces from 0 on, each used by one transaction, and as many on the chain (I-26). */
async function judgeNonces({ database, cluster, chains }: Fleet): Promise<string[]> {
  const found: string[] = []
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
    if (!contiguous) found.push(`a gap in the nonces of ${address} on ${network}: ${lane}`)
    else if (used !== Number(next)) found.push(`nonces of ${address} that ${network} does not have: ${lane}`)
  }
  return found
}

/** Alarms that no fault of a network, a node or a process excuses. */
async function judgeAlarms({ database }: Fleet): Promise<string[]> {
  const rows = await database.query<{ subject: string; alarm: string; detail: unknown }>(
    "select subject, alarm, detail from alarms where subject ~ '^(intrusion|release|lost|difference|payout|stray):'",
  )
  const pauses = await database.query<{ scope: string; reason: string }>('select scope, reason from pauses')
  return [
    ...rows.map(({ subject, alarm, detail }) => `${alarm} (${subject}) ${JSON.stringify(detail)}`),
    ...pauses.map(({ scope, reason }) => `${scope} is paused: ${reason}`),
  ]
}
