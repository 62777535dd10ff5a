import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { Chain, ChainReader } from '../../../src/exchange/ports/chain.ts'
import { smallest } from '../../../src/lib/bigint.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/*
 * D17 where no node has the state of the deposit's block: of each transfer of 100 units, whose event states all of them, only 97.5 arrive.
 * The reader then limits the units by the current balance, as that of the EVM adapter does (server/test/adapters/chains/evm/nodes.test.ts).
 */

const ONE_USDT = 10n ** 6n
const PAID = 100n * ONE_USDT
const FEE = PAID / 40n

let path: Awaited<ReturnType<typeof startMoneyPath>>
let chain: Chain
/** Transfers to each address, whose fee the address has not received. */
const paid = new Map<string, number>()

beforeAll(async () => {
  path = await startMoneyPath()
  chain = path.fakes.eth.chain
  const receivedUnits: ChainReader['receivedUnits'] = async ({ address, contract, units }, _block, readHeldUnits) => {
    if (contract === null) return units
    const held = await readHeldUnits?.()
    const balance = await chain.reader.balance(address, usdt.asset)
    return smallest(balance - FEE * BigInt(paid.get(address) ?? 0) - (held ?? 0n), units)
  }
  path.dependencies.chains.set('eth', { ...chain, reader: { ...chain.reader, receivedUnits } })
  await path.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => path.close())
afterEach(() => path.expectBalanced())

const createExchange = () => path.createExchange({ from: usdt, to: btc, fromUnits: PAID })
const pay = (exchange: Exchange) => {
  const { address } = exchange.deposit
  paid.set(address, (paid.get(address) ?? 0) + 1)
  path.payDeposit(exchange, PAID)
}
const listCredited = async (exchange: Exchange) =>
  (await path.listExecutions(exchange)).flatMap(({ deposit: { creditedUnits } }) =>
    creditedUnits === null ? [] : [creditedUnits],
  )
const sortedUnits = (units: readonly bigint[]) => units.toSorted((a, b) => Number(a - b))

test('credits two deposits of one block together with what arrived', async () => {
  const exchange = await createExchange()
  pay(exchange)
  pay(exchange)
  await path.mineBlocks(6)
  // The wallet has one output, which the first payout has spent.
  await path.clearHolds()
  await path.mineBlocks(6)
  expect(sortedUnits(await listCredited(exchange))).toEqual([PAID - 2n * FEE, PAID])
  expect(await path.readStatus(exchange)).toBe('finished')
})

test('credits a deposit that comes after the credit of another one with what arrived beyond it', async () => {
  const exchange = await createExchange()
  for (let n = 0; n < 3; n++) {
    pay(exchange)
    await path.mineBlocks(6)
  }
  expect(await listCredited(exchange)).toEqual([PAID - FEE, PAID - FEE, PAID - FEE])
})

test('credits a deposit that comes after a sweep, and waits while the sweep is signed', async () => {
  const exchange = await createExchange()
  pay(exchange)
  pay(exchange)
  await path.mineBlocks(usdt.network.finalityBlocks + 3)
  const readSweep = async () =>
    (
      await path.database.query<{ state: string }>(
        `select distinct p.state from deposits d join payouts p on p.id = d.swept_by where d.exchange_id = $1`,
        [exchange.id],
      )
    ).map(({ state }) => state)
  // The first runs supply the gas.
  for (let runs = 0; runs < 4; runs++) {
    await path.services.sweep(chain)
    if ((await readSweep()).length > 0) break
    await path.mineBlocks(3)
  }
  path.fakes.eth.behaviour.dropsBroadcasts = true
  await path.runWorkers(2)
  expect(await readSweep()).toEqual(['signed'])
  pay(exchange)
  await path.mineBlocks(6)
  expect(await listCredited(exchange)).toHaveLength(2)
  path.fakes.eth.behaviour.dropsBroadcasts = false
  await path.mineBlocks(8)
  expect(await readSweep()).toEqual(['confirmed'])
  await path.database.query('update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1', [
    exchange.id,
  ])
  await path.mineBlocks(2)
  expect(sortedUnits(await listCredited(exchange))).toEqual([PAID - 2n * FEE, PAID - FEE, PAID])
})
