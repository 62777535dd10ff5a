import { afterAll, beforeAll, expect, test } from 'vitest'
import { btc, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => path.close())

const TOKENS = 500_000_000n
/** Gas of every transaction on the chain in memory. */
const GAS = 21_000n

// M4: four times the gas of a sweep was supplied, and what it left was never used.
test('M4: a token deposit is supplied with the gas of its sweep, and a later one with what is missing of it', async () => {
  const { chain, behaviour } = path.fakes.eth
  // A base fee of 10 and a tip of 1: a sweep offers a quarter more of the base fee.
  const feeRate = async () => ({ rate: 21n, tip: 1n, least: 11n })
  const supplied = 13n * GAS
  const sweep = async () => {
    await path.services.sweep({ ...chain, reader: { ...chain.reader, feeRate } })
    await path.mineBlocks(4)
  }
  const listSupplies = async () =>
    (
      await path.database.query<{ units: string }>(
        "select units from payouts where purpose = 'gas' order by created_at, id",
      )
    ).map(({ units }) => BigInt(units))
  const exchange = await path.createExchange({ from: usdt, to: btc, fromUnits: TOKENS })
  const deposit = async () => {
    path.payDeposit(exchange, TOKENS)
    await path.mineBlocks(12)
  }
  await deposit()
  await sweep()
  expect(await listSupplies()).toEqual([supplied])
  behaviour.feeRate = 4n
  await sweep()
  const left = path.fakes.eth.balanceOf(exchange.deposit.address, null)
  expect(left).toBe(supplied - 4n * GAS)
  await deposit()
  await sweep()
  expect(await listSupplies()).toEqual([supplied, supplied - left])
})
