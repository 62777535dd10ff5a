import { type Client, createClient } from './client.ts'
import { type Customers, createCustomers } from './customers.ts'
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts'
import type { Ground } from './ground.ts'
import { allFindings, comeToRest, type Findings, judge } from './oracles.ts'

/** A started fleet with its partner and that partner's customers. */
export type Run = Readonly<{
  fleet: Fleet
  client: Client
  customers: Customers
  /** Waits until everything is done, and judges. */
  findings(timeoutMs?: number): Promise<Findings>
  /** The same as lines: none is what must be. */
  wrong(timeoutMs?: number): Promise<readonly string[]>
}>

/** A fleet for as long as the work takes. */
export async function withFleet<T>(ground: Ground, options: FleetOptions, work: (run: Run) => Promise<T>): Promise<T> {
  const fleet = await createFleet(ground, options)
  try {
    await fleet.start()
    const client = createClient(fleet.apis.map(({ url }) => url ?? ''))
    const customers = createCustomers(fleet, client)
    const findings = async (timeoutMs = 180_000) => {
      const left = await comeToRest(fleet, customers.purchases, customers.offerAgain, timeoutMs)
      return judge(fleet, client, customers.purchases, left)
    }
    return await work({
      fleet,
      client,
      customers,
      findings,
      wrong: async (timeoutMs) => allFindings(await findings(timeoutMs)),
    })
  } catch (error) {
    // Whatever failed, the processes know why.
    for (const crash of fleet.all.flatMap((one) => one.takeCrashes())) console.error(crash)
    throw error
  } finally {
    await fleet.stop()
  }
}
