import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Scenario } from '../support/scenario.ts'
import { prepareAfterwards } from './afterwards.ts'
import { type Order, type Pair, runExchanges } from './hundred.ts'
import { describeMatch, type Market, type Match, match } from './matcher.ts'
import { heightOf, type Observer, observe } from './observer.ts'
import { askMarket, seenBy } from './sights.ts'

/** A run of exchanges, and all that the chains show of it. */
export type Watched = Readonly<{ pairs: readonly Pair[]; observer: Observer; market: Market }>

/** Coins whose wallets have outputs: all of these are spent together in the end. */
const SPENT: readonly AssetId[] = ['btc@btc', 'ltc@ltc']
/** Networks of accounts: all deposits there are swept in the end. */
const SWEPT = ['eth', 'matic']
const SHOWN = ['btc', 'ltc', ...SWEPT]

export async function watch(scenario: Scenario, orders: readonly Order[]): Promise<Watched> {
  const since = new Map<string, number>()
  for (const network of SHOWN) since.set(network, await heightOf(network))
  const afterwards = await prepareAfterwards(scenario, SPENT, SWEPT)
  const pairs = await runExchanges(scenario, orders)
  // While there is something to be quoted.
  const market = await askMarket(scenario, pairs)
  await afterwards.collect()
  return { pairs, observer: await observe(since), market }
}

/** Fees of networks move by as much while prices stand still. */
const SAME = 0.0005

/** Payers and recipients of one kind of sizes, matched by whoever sees the chains and knows the quotes. Said aloud. */
export function guess(name: string, scenario: Scenario, watched: Watched, sizes: Order['sizes']): Match {
  const some = watched.pairs.filter((pair) => pair.sizes === sizes)
  const { payers, recipients } = seenBy(scenario, watched.observer, some)
  // A busy machine takes its time: within which everybody was paid is known to somebody who watches for long.
  const seconds = recipients.map(({ time }, n) => time - (payers[n]?.time ?? time))
  const [leastSeconds, mostSeconds] = [Math.min(...seconds), Math.max(...seconds)]
  const result = match(payers, recipients, watched.market, { leastSeconds, mostSeconds, same: SAME })
  console.log(describeMatch(`${sizes} sizes, ${name}`, result))
  return result
}
