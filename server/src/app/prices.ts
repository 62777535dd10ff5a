import type { Dropped } from '../adapters/prices/collect-prices.ts'
import { createDocumentSource } from '../adapters/prices/document.ts'
import { createEmbeddedPrices } from '../adapters/prices/embedded.ts'
import { createExchangeSource } from '../adapters/prices/exchange-source.ts'
import { exchanges } from '../adapters/prices/exchanges/index.ts'
import { createFixedPriceReader } from '../adapters/prices/fixed.ts'
import { createMedianPrices } from '../adapters/prices/median.ts'
import type { PriceSource } from '../adapters/prices/price-source.ts'
import type { Config } from '../config/load.ts'
import type { PriceConfig, PriceSourceConfig } from '../config/prices.ts'
import { AppError } from '../core/domain/errors.ts'
import type { Price } from '../core/domain/price.ts'
import type { Prices } from '../core/ports/prices.ts'
import { assert, present } from '../lib/assert.ts'
import { createHttp, type Http } from '../lib/http.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from './metrics.ts'
import type { SandboxChains } from './sandbox-chains.ts'

type PriceDeps = Readonly<{
  /** Null in production. */
  chains: Pick<SandboxChains, 'controlUrl'> | null
  log: Pick<Log, 'warn'>
  metrics: Pick<Metrics, 'priceDropped'>
  closers: (() => Promise<void> | void)[]
}>

/** Production combines the prices of the operator's sources; the sandbox generates prices. */
export function openPrices({ environment, prices, sandbox }: Config, deps: PriceDeps): Prices {
  const { chains, closers } = deps
  const http = createHttp()
  closers.push(() => http.close())
  if (prices === null) {
    assert(environment === 'sandbox' && chains !== null, 'production has price sources')
    const readFixed = createFixedPriceReader(chains.controlUrl, http)
    return createEmbeddedPrices({ now: Date.now, still: sandbox.still, readFixed })
  }
  return createMedianPrices({
    sources: prices.sources.map((source) => openSource(source, http)),
    quorum: prices.quorum,
    now: Date.now,
    onDropped: reportDropped(deps, Date.now),
  })
}

/** Reads the configured sources once: the prices that they agree on, and all that was not counted. */
export async function readPricesOnce({ sources, quorum }: PriceConfig) {
  const http = createHttp()
  const dropped: Dropped[] = []
  const opened = sources.map((source) => openSource(source, http))
  const onDropped = (one: Dropped) => void dropped.push(one)
  try {
    const { usd } = await createMedianPrices({ sources: opened, quorum, now: Date.now, onDropped }).read()
    return { usd, dropped }
  } catch (error) {
    if (error instanceof AppError && error.code === 'RATES_UNAVAILABLE')
      return { usd: new Map<string, Price>(), dropped }
    throw error
  } finally {
    await http.close()
  }
}

function openSource({ exchange, url, headers }: PriceSourceConfig, http: Http): PriceSource {
  if (exchange === null) return createDocumentSource(present(url, 'the URL of a price document'), { http, headers })
  const options = { http, now: Date.now, headers, ...(url === null ? {} : { url }) }
  return createExchangeSource(exchange, exchanges[exchange], options)
}

const REPEAT_MS = 60_000
/** A pair that an exchange has delisted stays missing. */
const REPEAT_MISSING_MS = 86_400_000
/** Keys of price documents come from outside. */
const KEYS_MAX = 2_000

/** Prices are read every second: the same drop is logged once a minute, a missing pair once a day. */
export function reportDropped({ log, metrics }: Pick<PriceDeps, 'log' | 'metrics'>, now: () => number) {
  const loggedAt = new Map<string, number>()
  return ({ source, reason, priceKey, cause }: Dropped): void => {
    metrics.priceDropped(source, reason)
    const key = `${source} ${reason} ${priceKey}`
    const repeatMs = reason === 'missing' ? REPEAT_MISSING_MS : REPEAT_MS
    if (now() - (loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < repeatMs) return
    if (loggedAt.size >= KEYS_MAX) loggedAt.clear()
    loggedAt.set(key, now())
    log.warn({ source, reason, priceKey, ...(cause === undefined ? {} : { cause: explain(cause) }) }, 'price dropped')
  }
}

/** The messages of an error and of its causes. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${explain(error.cause)}`
}
