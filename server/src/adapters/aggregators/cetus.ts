import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorOrder, PoolStep } from '../../swap/ports/aggregator.ts'
import { memberOf, requestJson, textOf, unitsOf } from './request-json.ts'

export const cetusUrl = 'https://api-sui.cetus.zone/router_v3'
/** The package of the pools, version 15 (cetus-1.gitbook.io). An upgrade replaces it. */
const poolPackage = '0x260693ec785a6e6c9d81d58c7d2ff72f1288ae0fa6a9725abe05a6478b11f084'
/** The version of the interface; the service refuses old ones. */
const VERSION = '1010502'
const HOPS = '3'
const STEPS_MAX = 12

export type CetusOptions = Readonly<{
  http: Http
  key: string | null
  url?: string
  /** Replaces the published packages, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/**
 * The route finder of Cetus, `/find_routes`, limited to its own pools: those are the ones that we read and compose. It returns pools and
 * amounts, no transaction.
 */
export function createCetus({ http, key, url = cetusUrl, contracts }: CetusOptions): Aggregator {
  async function readRoute({ tokenIn, tokenOut, amountIn }: AggregatorOrder, timeoutMs: number) {
    const trade = { from: inFull(tokenIn), target: inFull(tokenOut), amount: amountIn.toString(), by_amount_in: 'true' }
    const query = { ...trade, depth: HOPS, providers: 'CETUS', v: VERSION, ...(key === null ? {} : { apiKey: key }) }
    const answer = await requestJson({ http, timeoutMs, url: `${url}/find_routes`, query })
    const route = memberOf(answer, 'data')
    const amountOut = amountOf(memberOf(route, 'amount_out'))
    if (amountOf(memberOf(route, 'amount_in')) !== amountIn || amountOut === null) return null
    const steps = readSteps(memberOf(route, 'paths'))
    return steps === null ? null : { amountOut, steps }
  }
  return {
    id: 'cetus',
    serves: (network) => network === 'sui',
    contracts: (network) => contracts?.get(network) ?? [poolPackage],
    async quote(order, timeoutMs) {
      const route = await readRoute(order, timeoutMs)
      return route === null ? null : { amountOut: route.amountOut, gas: null }
    },
    build: readRoute,
  }
}

function readSteps(paths: unknown): readonly PoolStep[] | null {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > STEPS_MAX) return null
  const steps = paths.map((path): PoolStep | null => {
    const [pool, from, to] = [memberOf(path, 'id'), memberOf(path, 'from'), memberOf(path, 'target')].map(textOf)
    const [provider, amountIn] = [memberOf(path, 'provider'), amountOf(memberOf(path, 'amount_in'))]
    if (provider !== 'CETUS' || pool == null || from == null || to == null || amountIn === null) return null
    return { dex: 'cetus', pool, from, to, amountIn }
  })
  const known = steps.filter((step) => step !== null)
  return known.length === steps.length ? known : null
}

/** The service writes amounts as numbers; above 2^53 they are not exact. */
const amountOf = (value: unknown): bigint | null =>
  unitsOf(typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value)

/** A coin type with its address in full. */
function inFull(type: string): string {
  const [address = '', ...names] = type.split('::')
  return [`0x${address.slice(2).padStart(64, '0')}`, ...names].join('::')
}
