import type { Command } from 'commander'
import { explain, readPricesOnce } from '../app/prices.ts'
import { listOffered } from '../config/file.ts'
import { loadConfig, requireProduction } from '../config/load.ts'
import { formatUnits } from '../core/domain/amount.ts'
import { USD_DECIMALS } from '../core/domain/price.ts'
import { fail, print } from './print.ts'

export function addPriceCommands(program: Command): void {
  program
    .command('prices')
    .description('the price sources')
    .command('check')
    .description(
      'reads each configured source once: the prices in use, what was not counted and why, and starts nothing',
    )
    .action(async () => {
      const config = loadConfig()
      requireProduction(config)
      if (config.prices === null) fail('prices is missing in the config file')
      const { usd, dropped } = await readPricesOnce(config.prices)
      const format = (units: bigint) => formatUnits(units, USD_DECIMALS)
      for (const { cause, ...one } of dropped) print(cause === undefined ? one : { ...one, cause: explain(cause) })
      const offered = listOffered(config)
      for (const [price, { bid, ask }] of usd) {
        const followers = offered.filter(({ priceKey, isBridged }) => priceKey === price && isBridged)
        const bridged = followers.map(({ ticker, network }) => `${ticker}@${network}`)
        print({ price, bid: format(bid), ask: format(ask), ...(bridged.length > 0 ? { bridged } : {}) })
      }
      const keys = new Set(offered.map(({ priceKey }) => priceKey))
      const missing = [...keys].filter((priceKey) => !usd.has(priceKey))
      if (missing.length > 0) fail(`no price of ${missing.join(', ')}: these currencies would not be offered`)
    })
}
