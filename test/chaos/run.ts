import { until } from '../support/until.ts'
import { allFindings, comeToRest, type Findings, judge } from './checks.ts'
import { type Client, createClient } from './client.ts'
import type { Cluster } from './cluster.ts'
import { type Customers, createCustomers } from './customers.ts'
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts'

/** A started fleet with its partner and that partner's customers. */
export type Run = Readonly<{
  fleet: Fleet
  client: Client
  customers: Customers
  /** Waits until everything is done, and judges. */
  findings(timeoutMs?: number): Promise<Findings>
  /** The same as lines: none is what must be. */
  wrong(timeoutMs?: number): Promise<readonly string[]>
  close(): Promise<void>
}>

const REST_MS = 180_000

export async function openRun(cluster: Cluster, options: FleetOptions): Promise<Run> {
  const fleet = await createFleet(cluster, options)
  try {
    await fleet.start()
    const client = createClient(fleet.apis.map(({ url }) => url ?? ''))
    const customers = createCustomers(fleet, client)
    await Promise.all(fleet.apis.map(({ url }) => until('it quotes', () => quotes(client, url ?? ''))))
    const findings = async (timeoutMs = REST_MS) => {
      const left = await comeToRest(fleet, customers.purchases, customers.offerAgain, timeoutMs)
      return judge(fleet, client, customers.purchases, left)
    }
    const wrong = async (timeoutMs?: number) => allFindings(await findings(timeoutMs))
    return { fleet, client, customers, findings, wrong, close: fleet.stop }
  } catch (error) {
    tellCrashes(fleet)
    await fleet.stop()
    throw error
  }
}

/** A fleet for as long as the work takes. */
export async function withFleet<T>(
  cluster: Cluster,
  options: FleetOptions,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const run = await openRun(cluster, options)
  try {
    return await work(run)
  } catch (error) {
    tellCrashes(run.fleet)
    throw error
  } finally {
    await run.close()
  }
}

/** Every process reads wallets and fees by itself: it may be ready for requests before it has anything to offer. */
async function quotes({ once }: Client, url: string): Promise<boolean> {
  const pairs = [
    { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', amount: '0.01' },
    { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'btc', toNetwork: 'btc', amount: '0.2' },
  ]
  for (const pair of pairs) {
    const { status } = await once(
      url,
      'GET',
      `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, flow: 'standard' })}`,
    )
    if (status !== 200) return false
  }
  return true
}

/** Whatever failed, the processes know why. */
function tellCrashes({ all }: Fleet): void {
  for (const crash of all.flatMap((one) => one.takeCrashes())) console.error(crash)
}
