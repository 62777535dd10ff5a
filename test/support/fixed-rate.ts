import type { MovablePrices } from './prices.ts'
import type { Json, Scenario } from './scenario.ts'

/** Creates a fixed-rate exchange of 0.4 ether to bitcoin. */
export async function createFixedRateExchange(
  scenario: Scenario,
  address: string,
  refundAddress?: string,
): Promise<Json> {
  const { rateId } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  return scenario.create({
    from: 'eth@eth',
    to: 'btc@btc',
    amount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
    ...(refundAddress === undefined ? {} : { refundAddress }),
  })
}

/** Raises the price of bitcoin by `percent` and waits until a quote shows it. */
export async function raiseBitcoinPrice(scenario: Scenario, prices: MovablePrices, percent: bigint): Promise<void> {
  const before = (await scenario.rate('eth@eth', 'btc@btc', '0.4')).toAmount
  prices.move('btc', percent)
  await scenario.until(
    'the quote has changed',
    async () => (await scenario.rate('eth@eth', 'btc@btc', '0.4')).toAmount !== before,
  )
}
