import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'
import { anyOrder, type Customers, leastOf } from './customers.ts'
import type { Dice } from './dice.ts'

export type Shop = Readonly<{
  /** Orders that were refused with no fault of the customer: there are none. */
  refused(): readonly string[]
  /** Resolves when the last customer has paid. */
  close(): Promise<void>
}>

/** Customers come at this pace until it closes. They wait for nobody. */
export async function openShop(
  client: Client,
  customers: Customers,
  { everyMs, dice }: { everyMs: number; dice: Dice },
): Promise<Shop> {
  const least = await leastOf(client, 'eth@eth', 'btc@btc')
  const refused: string[] = []
  const buying = new Set<Promise<unknown>>()
  let closing = false
  const running = (async () => {
    while (!closing) {
      const bought: Promise<unknown> = customers.buy(anyOrder(least, dice)).catch((error: Error) => {
        // The bank cannot always pay while its chain is being reorganised: that customer never paid.
        if (!error.message.startsWith('/deposits')) refused.push(error.message)
      })
      buying.add(bought)
      void bought.finally(() => buying.delete(bought))
      await delay(everyMs)
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
