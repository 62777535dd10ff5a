import { binance } from './binance.ts'
import { bitfinex } from './bitfinex.ts'
import { bitstamp } from './bitstamp.ts'
import type { Exchange } from './exchange.ts'
import { kraken } from './kraken.ts'
import { kucoin } from './kucoin.ts'
import { okx } from './okx.ts'

export const exchangeIds = ['kraken', 'bitstamp', 'bitfinex', 'binance', 'okx', 'kucoin'] as const
export type ExchangeId = (typeof exchangeIds)[number]

export const exchanges: Readonly<Record<ExchangeId, Exchange>> = { kraken, bitstamp, bitfinex, binance, okx, kucoin }
