import { createCetus } from '../adapters/aggregators/cetus.ts'
import { createJupiter } from '../adapters/aggregators/jupiter.ts'
import { createKyberSwap } from '../adapters/aggregators/kyber-swap.ts'
import { createOpenOcean } from '../adapters/aggregators/open-ocean.ts'
import { createZeroX, type ZeroXOptions } from '../adapters/aggregators/zero-x.ts'
import type { AggregatorConfig } from '../config/swaps.ts'
import type { Http } from '../lib/http.ts'
import type { Aggregator } from '../swap/ports/aggregator.ts'
import {
  type AskAggregators,
  type BuildAggregatorCall,
  createAskAggregators,
  createBuildAggregatorCall,
} from '../swap/quotes/ask-aggregators.ts'

export type AggregatorOffer = Readonly<{
  asked: readonly AggregatorConfig[]
  budgetMs: number
  /** Half-life of an aggregator's shortfall, in ms. */
  halfLifeMs?: number
}>

type AggregatorAt = Pick<ZeroXOptions, 'http' | 'url' | 'contracts'>
const createAggregatorById: Readonly<
  Record<AggregatorConfig['id'], (key: string | null, at: AggregatorAt) => Aggregator>
> = {
  '0x': (key, at) => createZeroX({ key: key ?? '', ...at }),
  openocean: (key, at) => createOpenOcean({ key, ...at }),
  kyberswap: (client, at) => createKyberSwap({ client: client ?? '', ...at }),
  jupiter: (key, at) => createJupiter({ key: key ?? '', ...at }),
  cetus: (key, at) => createCetus({ key, ...at }),
}

export type Asking = Readonly<{
  askAggregators: AskAggregators | null
  buildAggregatorCall: BuildAggregatorCall | null
}>

export function composeAggregators(http: Http, offer: AggregatorOffer | undefined): Asking {
  if (offer === undefined || offer.asked.length === 0) return { askAggregators: null, buildAggregatorCall: null }
  const aggregators = offer.asked.map(({ id, key, url, contracts }): Aggregator => {
    const at = { http, ...(url === null ? {} : { url }), ...(contracts === undefined ? {} : { contracts }) }
    return createAggregatorById[id](key, at)
  })
  const deps = { aggregators, budgetMs: offer.budgetMs }
  return { askAggregators: createAskAggregators(deps), buildAggregatorCall: createBuildAggregatorCall(deps) }
}
