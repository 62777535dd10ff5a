import type { Scenario } from '../support/scenario.ts'

/**
 * Keeps the fee rates of all networks as they are now, as the prices stand still. An analyst subtracts the published network fees
 * from amounts; the transactions of other test files on the same chains would change them during the run.
 */
export async function keepFeeRates({ app }: Scenario): Promise<void> {
  for (const { reader } of app.chains.values()) {
    const rate = await reader.feeRate()
    reader.feeRate = async () => rate
  }
}
