import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { anyOrder, leastOf, type PrivateType } from './customers.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

export type Load = Readonly<{
  /** Orders that were refused with no fault of the customer: there are none. */
  refused(): readonly string[]
  /** Resolves when the last customer has paid. */
  close(): Promise<void>
}>

/** Open exchanges beyond which nobody comes: a slow machine is not to be left with an hour's work. */
const FULL = 100
const OPEN = `select 1 from exchanges where status not in ('finished', 'failed', 'refunded') limit ${FULL}`

/** Customers come at this pace until it closes. They wait for nobody, and stay away where a queue stands. */
export async function openLoad(
  { client, customers, fleet }: Run,
  { everyMs, random }: { everyMs: number; random: Random },
): Promise<Load> {
  const least = await leastOf(client, 'eth@eth', 'btc@btc')
  const has = (id: string) => fleet.cluster.chains.networks.some(({ network }) => network === id)
  const types: readonly PrivateType[] = [
    ...(has('ltc') ? (['efficient'] as const) : []),
    ...(has('xmr') ? (['privatePlus'] as const) : []),
  ]
  for (const type of types) await until(`${type} exchanges are on offer`, () => offersPrivate(client, type))
  const refused: string[] = []
  const buying = new Set<Promise<unknown>>()
  let closing = false
  const running = (async () => {
    // While Postgres is down nobody can tell.
    const isFull = () =>
      fleet.database.query(OPEN).then(
        ({ length }) => length >= FULL,
        () => false,
      )
    for (; !closing; await delay(everyMs)) {
      if (await isFull()) continue
      const bought: Promise<unknown> = customers.buy(anyOrder(least, random, types)).catch((error: Error) => {
        // The bank cannot always pay while its chain is being reorganised: that customer never paid.
        if (!error.message.startsWith('/deposits')) refused.push(error.message)
      })
      buying.add(bought)
      void bought.finally(() => buying.delete(bought))
    }
  })()
  return {
    refused: () => refused,
    close: async () => {
      closing = true
      await running
      await Promise.all(buying)
    },
  }
}

/** Its third chain is read and its reserve known. */
async function offersPrivate({ call }: Run['client'], privateType: PrivateType): Promise<boolean> {
  const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', amount: '0.004' }
  const query = new URLSearchParams({ ...pair, privateType })
  return (await call('GET', `/v1/cross-chain/rate/private?${query}`)).status === 200
}
