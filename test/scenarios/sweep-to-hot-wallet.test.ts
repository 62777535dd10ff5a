import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readBalance } from '../support/scenario-reads.ts'

let scenario: Scenario
const remainders: bigint[] = []
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test.each([
  ['eth@eth', '0.4'],
  ['usdt@eth', '500'],
] as const)('M4: sweeps %s from the deposit address to the hot wallet', async (currency, amount) => {
  const exchange = await scenario.create({ from: currency, to: 'btc@btc', amount })
  await scenario.deposit(exchange, amount)
  await scenario.waitForStatus(exchange, 'finished')
  await scenario.until(
    'the ledger has nothing on deposit addresses',
    async () => (await readBalance(scenario, 'asset:deposits', currency)) === 0n,
  )
  const read = (what: string) => scenario.balance(what, exchange.request.depositAddress)
  await scenario.until('the deposit is swept on chain', async () => Number(await read(currency)) < 0.001)
  const [swept] = await scenario.app.database.query<{ fee: string }>(
    `select a.fee_units as fee from payouts p join attempts a using (transaction_id)
     where p.purpose = 'sweep' and p.asset_id = $1 order by a.id desc`,
    [currency],
  )
  const maxFeeUnits = BigInt(swept?.fee ?? 0)
  const remainder = parseUnits(await read('eth@eth'), 18)
  // M4: 85 % of the gas stayed on the address. Now 10 % of the gas is a margin, and a quarter of the base fee.
  expect(remainder * 100n).toBeLessThanOrEqual(maxFeeUnits * 40n)
  remainders.push(remainder)
  await scenario.until(
    'the ledger has what stays on deposit addresses',
    async () => (await readBalance(scenario, 'expense:stranded', 'eth@eth')) === remainders.reduce((a, b) => a + b),
  )
  if (currency === 'eth@eth') expect(await read(currency)).not.toBe('0.4')
  else expect(await read(currency)).toBe('0')
  // The app's own gas transfer to the address is not shown as an unconfirmed payment.
  expect(await scenario.app.database.query('select tx_hash from sightings where gone_at is null')).toEqual([])
  await scenario.checkInvariants()
})
