import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { lockMarket } from '../../../../test/support/market-lock.ts'
import { type Json, startWorld, type World } from '../../../../test/support/world.ts'
import { hex } from '../../evm/anvil.ts'
import { LOCK_MS, NATIVE, type Stage, stageOn, trade } from './partner.ts'

const networks = ['eth', 'sei', 'arbitrum', 'base', 'bsc', 'cchain', 'celo', 'linea', 'matic', 'op', 'sonic', 'uni']

let world: World
beforeAll(async () => {
  world = await startWorld({ networks, swaps: {} })
}, 120_000)
afterAll(() => world.stop())

/**
 * Algebra sets its fee by the second: what is quoted holds for the highest of the next minute (docs/pools.md), so that the
 * chain pays that or a trifle more. Other tests move the pools of base.
 */
const hasMovingFee = ({ routes }: Json): boolean => /"name":"algebra/i.test(JSON.stringify(routes))

async function swaps(stage: Stage): Promise<void> {
  const user = await stage.user()
  const legs = [
    [NATIVE, stage.token('usdc'), '2'],
    [stage.token('usdc'), stage.token('dai'), null],
    [stage.token('dai'), NATIVE, null],
  ] as const
  let received = ''
  for (const [fromTokenAddress, toTokenAddress, fixed] of legs) {
    const amount = fixed ?? received
    const before = await stage.balance(toTokenAddress, user.address)
    const asked = { fromTokenAddress, toTokenAddress, amount, slippage: '1', referrerFee: '0.1' }
    const { quote, raws, hash } = await trade(stage, user, asked)
    expect(raws).toHaveLength(fromTokenAddress === NATIVE ? 1 : 2)
    const row = await stage.becomes(hash, 'finished')
    received = row.amountTo
    if (stage.network === 'base' && hasMovingFee(quote)) {
      expect(Number(received)).toBeGreaterThanOrEqual(Number(quote.receivedAmount))
      // A hundredth of a percent: the fee of a minute.
      expect(Number(received)).toBeLessThan(Number(quote.receivedAmount) * 1.0001)
      const paid = (await stage.balance(toTokenAddress, user.address)) - before
      if (toTokenAddress !== NATIVE) expect(paid).toBeGreaterThanOrEqual(BigInt(quote.receivedAmountRaw))
      continue
    }
    expect([stage.network, received]).toEqual([stage.network, quote.receivedAmount])
    // Of the coin, gas is paid besides.
    if (toTokenAddress !== NATIVE)
      expect((await stage.balance(toTokenAddress, user.address)) - before).toBe(BigInt(quote.receivedAmountRaw))
  }
}

/** The swap as it was signed, asked of the node at the quote's own block, as if it were mined in each second of the next minute. */
async function leastOfAMinute(stage: Stage): Promise<void> {
  const user = await stage.user()
  const usdc = stage.token('usdc')
  const asked = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '40', slippage: '1', referrerFee: '0' }
  const { quote, rawTx, hash } = await trade(stage, user, asked)
  expect(hasMovingFee(quote)).toBe(true)
  // Asked of the newest block, the node may answer from the one that it is just making.
  await stage.becomes(hash, 'finished')
  const { to, data, value = 0n } = parseTransaction(rawTx)
  const call = { from: user.address, to, data, value: hex(value) }
  const at = hex(quote.block)
  const { timestamp } = await stage.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', at, false)
  const rich = { [user.address]: { balance: hex(value + 10n ** 18n) } }
  const seconds = Array.from({ length: 60 }, (_, index) => hex(Number(timestamp) + 1 + index))
  const said = await Promise.all(seconds.map((time) => stage.rpc<Hex>('eth_call', call, at, rich, { time })))
  // A dollar has six places: exact as a number.
  expect(Math.min(...said.map(Number))).toBe(Number(quote.receivedAmountRaw))
}

describe('coin → token → token → coin pays to the unit what was quoted', () => {
  // Mostly waiting for blocks: a few at a time.
  test.for(networks)('on %s', { concurrent: true, timeout: LOCK_MS }, async (network) => {
    const unlock = await lockMarket(inject('databaseUrl'), network)
    await swaps(await stageOn(world, network)).finally(unlock)
  })

  test('and on base, where a fee may move by the second, what the second that pays least would', {
    timeout: LOCK_MS,
  }, async () => {
    const unlock = await lockMarket(inject('databaseUrl'), 'base')
    await leastOfAMinute(await stageOn(world, 'base')).finally(unlock)
  })

  test('and on Celo the coin and its token are one', async () => {
    const stage = await stageOn(world, 'celo')
    const { body } = await stage.quote({
      fromTokenAddress: NATIVE,
      toTokenAddress: stage.wrapped,
      amount: '1',
      slippage: '1',
      referrerFee: '0',
    })
    expect(body).toMatchObject({ statusCode: 400, code: 'SAME_CURRENCY' })
    const listed = await world.call('GET', '/v1/defi/available-currencies?network=celo')
    const coins = listed.body.filter((one: { symbol: string }) => one.symbol === 'CELO')
    expect(coins).toHaveLength(1)
  })
})
