import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { AppError } from '../../server/src/core/domain/errors.ts'
import type { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { isRefusedPayment } from './control.ts'
import type { PrivateType } from './customers.ts'
import { drawAdversary, drawOrder, readMinimum } from './draw-order.ts'
import type { Run } from './run.ts'

export type Load = Readonly<{
  /** Errors of orders that should have succeeded. Must be empty. */
  errors(): readonly string[]
  /** Resolves when the last customer has paid. */
  close(): Promise<void>
}>

/** Maximum of open exchanges with work to do, so that a slow machine is not left with an hour of it. */
const OPEN_MAX = 100
const UNPAID_PERCENT_MAX = 20
/** An exchange that is never paid, or whose payment was replaced, stays open until it expires, and needs nothing. */
const OPEN = `select 1 from exchanges e where status not in ('finished', 'failed', 'refunded') and exists (
  select 1 from deposits d where d.exchange_id = e.id and d.block_height is not null) limit ${OPEN_MAX}`

export type LoadOptions = Readonly<{
  everyMs: number
  random: Random
  /** Share of the customers who try to gain by breaking the rules. */
  adversaryPercent?: number
}>

/** Starts a new customer every `everyMs`, independent of earlier ones, and pauses at the maximum of open exchanges. */
export async function startLoad(run: Run, { everyMs, random, adversaryPercent = 0 }: LoadOptions): Promise<Load> {
  const { client, customers, fleet } = run
  const minimum = await readMinimum(client, 'eth@eth', 'btc@btc')
  const has = (id: string) => fleet.cluster.chains.networks.some(({ network }) => network === id)
  const types: readonly PrivateType[] = [
    ...(has('ltc') ? (['efficient'] as const) : []),
    ...(has('xmr') ? (['privatePlus'] as const) : []),
  ]
  for (const type of types) await until(`${type} exchanges are on offer`, () => isPrivateTypeOffered(run, type))
  const errors: string[] = []
  let [orders, unpaid] = [0, 0]
  const pending = new Set<Promise<unknown>>()
  let closing = false
  // Only while Postgres does not answer, customers come without a maximum.
  const isFull = () =>
    countOpen(fleet.database).then(
      (count) => count >= OPEN_MAX,
      (error) => {
        if (!(error instanceof AppError && error.code === 'OVERLOADED')) errors.push(String(error))
        return false
      },
    )
  const running = (async () => {
    for (; !closing; await delay(everyMs)) {
      if (await isFull()) continue
      const isAdversary = random.draw(0, 100) < adversaryPercent
      const order = isAdversary ? drawAdversary(minimum, random, types) : drawOrder(minimum, random, types)
      const purchase: Promise<unknown> = customers.buy(order).catch((error: Error) => {
        // A node may refuse what the sandbox's bank pays after a reorganisation. Such a customer has not paid.
        if (isRefusedPayment(error) && fleet.cluster.countFaults().reorgs > 0) unpaid++
        else errors.push(error.message)
      })
      orders++
      pending.add(purchase)
      void purchase.finally(() => pending.delete(purchase))
    }
  })()
  return {
    errors: () => {
      const isTooMany = unpaid * 100 > orders * UNPAID_PERCENT_MAX
      return isTooMany ? [...errors, `the bank did not pay for ${unpaid} of ${orders} orders`] : errors
    },
    close: async () => {
      closing = true
      await running
      await Promise.all(pending)
    },
  }
}

/** The open exchanges that have a payment in a block, up to the maximum. */
export const countOpen = async (database: Sql): Promise<number> => (await database.query(OPEN)).length

/** False until every API process has read the intermediary's chain and its reserve. */
export async function isPrivateTypeOffered(
  { client, fleet }: Pick<Run, 'client' | 'fleet'>,
  privateType: PrivateType,
): Promise<boolean> {
  const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', amount: '0.004' }
  const query = new URLSearchParams({ ...pair, privateType })
  // Each API process reads the reserves at its own times.
  for (const { url } of fleet.apis)
    if ((await client.once(url ?? '', 'GET', `/v1/cross-chain/rate/private?${query}`)).status !== 200) return false
  return true
}
