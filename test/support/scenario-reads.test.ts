import { formatUnits, parseUnits } from 'viem'
import { expect, test } from 'vitest'
import { paymentCost } from './network-costs.ts'
import type { Scenario } from './scenario.ts'
import { expectRefund } from './scenario-reads.ts'

const PAID = '0.01'

/** A scenario whose app quotes and takes this fee of one payment, in base units. */
function createScenario(feeUnits: bigint) {
  let received = 0n
  const scenario = {
    app: {
      catalogue: { list: () => [{ asset: { id: 'eth@eth', network: 'eth' }, enabled: true }] },
      chains: new Map([['eth', {}]]),
    },
    rate: async () => ({ fees: { payout: formatUnits(feeUnits, 8) } }),
    balance: async () => formatUnits(received, 8),
  } as unknown as Scenario
  const refund = async () => {
    received += parseUnits(PAID, 8) - feeUnits
  }
  return { scenario, refund }
}

async function refundBitcoin(feeUnits: bigint): Promise<void> {
  const { scenario, refund } = createScenario(feeUnits)
  await expectRefund(scenario, { currency: 'btc@btc', amount: PAID, address: 'an address', decimals: 8 }, refund)
}

test('a refund must be less the fee that the chain costs, not only the fee that the app quotes', async () => {
  const cost = paymentCost('btc@btc') ?? 0n
  expect(cost).toBeGreaterThan(0n)
  await refundBitcoin(cost)
  for (const fee of [2n * cost, cost + 1n, cost - 1n, 0n]) await expect(refundBitcoin(fee)).rejects.toThrow()
})
