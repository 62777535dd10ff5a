import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('creates one exchange for fifty concurrent creates with the same rateId (B065)', async () => {
  const { address } = await scenario.wallet('btc')
  const { rateId } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const body = {
    fromCurrency: 'eth',
    fromNetwork: 'eth',
    toCurrency: 'btc',
    toNetwork: 'btc',
    fromAmount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
  }
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => scenario.call('POST', '/v1/cross-chain/exchange', body)),
  )
  const outcomes = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`)
  expect(outcomes.toSorted()).toEqual(['201 ', ...Array<string>(49).fill('409 RATE_ID_USED')])
  const { body: list } = await scenario.call('GET', '/v1/cross-chain/exchange/list')
  expect(list.total).toBe(1)
  // The refused creates released their reserves, so only one amount is reserved.
  const [inventory] = await scenario.app.database.query<{ promised: string }>(
    "select promised from inventory where asset_id = 'btc@btc'",
  )
  expect(BigInt(inventory?.promised ?? 0)).toBe(parseUnits(list.data[0].request.amountToRequested, 8))
  await scenario.checkInvariants()
})
