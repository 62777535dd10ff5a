import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import { collectFindings, type Findings, listFindings, readInclusions, waitUntilIdle } from './checks.ts'
import { type Client, createClient } from './client.ts'
import type { Cluster } from './cluster.ts'
import { type Customers, createCustomers, type Payment } from './customers.ts'
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts'
import { toQuery } from './partner.ts'
import { PARTNER_BPS } from './published.ts'

/** A started fleet, a partner and the partner's customers. */
export type Run = Readonly<{
  fleet: Fleet
  client: Client
  /** A client with the API key of another partner. */
  createClient(apiKey: string): Client
  customers: Customers
  /** Waits until nothing is under way, then checks the app. */
  check(timeoutMs?: number): Promise<Findings>
  /** The findings of `check`, one line each. */
  listFindings(timeoutMs?: number): Promise<readonly string[]>
  close(): Promise<void>
}>

/** Maximum time without progress. */
const IDLE_MS = 1.5 * PATIENCE_MS
/** How often the checks are repeated because a payment entered or left a block meanwhile. */
const REPEATS_MAX = 2

export async function openRun(cluster: Cluster, options: FleetOptions): Promise<Run> {
  const fleet = await createFleet(cluster, options)
  try {
    await fleet.start()
    await setPartnerFee(fleet)
    const urls = fleet.apis.map(({ url }) => url ?? '')
    await waitUntilQuoting(urls)
    const { interruptions } = fleet
    await until('every API process is ready', () => interruptions.listOpen().length === 0)
    const open = (apiKey: string) => createClient(urls, { apiKey, interruptions })
    const client = open('sandbox')
    const customers = createCustomers(fleet, client)
    const check = (timeoutMs = IDLE_MS) => checkRun(fleet, client, customers, timeoutMs)
    return {
      fleet,
      client,
      createClient: open,
      customers,
      check,
      listFindings: async (timeoutMs) => listFindings(await check(timeoutMs)),
      close: fleet.stop,
    }
  } catch (error) {
    printCrashes(fleet)
    await fleet.stop()
    throw error
  }
}

/** Waits and checks, and repeats both if a payment entered or left a block meanwhile. */
async function checkRun(fleet: Fleet, client: Client, customers: Customers, timeoutMs: number): Promise<Findings> {
  const { purchases, rebroadcast } = customers
  for (let repeats = 0; ; repeats++) {
    const unfinished = await waitUntilIdle(fleet, purchases, rebroadcast, timeoutMs)
    const onChain = await readInclusions(fleet, purchases)
    const findings = await collectFindings(fleet, client, customers, unfinished, onChain)
    const moved = listMoved(onChain, await readInclusions(fleet, purchases))
    if (moved.length === 0 || repeats === REPEATS_MAX || unfinished.length > 0) return findings
    console.info(`chaos: a block changed what the checks compare: ${moved.join(', ')}`)
  }
}

type Inclusions = ReadonlyMap<Payment, boolean>
const listMoved = (before: Inclusions, after: Inclusions): readonly string[] =>
  [...after].flatMap(([payment, is]) =>
    before.get(payment) === is ? [] : [`${payment.network} payment ${payment.hash} ${is ? 'entered' : 'left'} a block`],
  )

/** Before the first request, because each process keeps a partner that it has read for seconds. */
async function setPartnerFee({ database }: Fleet): Promise<void> {
  const sql = "update partners set fee_bps = $1 where name = 'sandbox' returning 1"
  if ((await database.query(sql, [PARTNER_BPS])).length !== 1) throw new Error('the fleet has no partner sandbox')
}

/** Runs the work on a new fleet and stops the fleet. */
export async function withFleet<T>(
  cluster: Cluster,
  options: FleetOptions,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const run = await openRun(cluster, options)
  try {
    return await work(run)
  } catch (error) {
    printCrashes(run.fleet)
    throw error
  } finally {
    await run.close()
  }
}

/**
 * Waits until each process quotes every currency that customers receive. Each process reads wallets and fees separately, and a new app
 * funds its wallets one after the other, so a process accepts requests before it can quote.
 */
async function waitUntilQuoting(urls: readonly string[]): Promise<void> {
  // A process may answer 503 for a pair until its wallets are funded.
  const client = createClient(urls, { interruptions: { explain: () => true, countAnswer: () => undefined } })
  await Promise.all(
    urls.flatMap((url) =>
      ORDERED.map(([from, to]) => until(`${url} quotes ${from} to ${to}`, () => isQuoting(client, url, from, to))),
    ),
  )
}

/** One pair per currency that customers receive, refunds included. */
const ORDERED = [
  ['btc@btc', 'eth@eth'],
  ['btc@btc', 'usdt@eth'],
  ['eth@eth', 'btc@btc'],
] as const

async function isQuoting({ once }: Client, url: string, from: string, to: string): Promise<boolean> {
  // A quote is given also if the amount is out of bounds.
  const query = new URLSearchParams({ ...toQuery({ from, to }), amount: '1', flow: 'standard' })
  const { status } = await once(url, 'GET', `/v1/cross-chain/rate?${query}`)
  return status === 200
}

function printCrashes({ all }: Fleet): void {
  for (const crash of all.flatMap((one) => one.takeCrashes())) console.error(crash)
}
