import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { checkRecipientGas } from '../../../src/exchange/orders/check-recipient-gas.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** 500 dollars: a payout of some 0.124 ETH. 5 % are 0.0062 ETH, and 3 × 0.00021 ETH was charged. */
const UNITS = COIN / 200n

// M21: nothing compared the fee at the signature with the payout or with what the customer was charged.
describe('M21: a payout whose network fee is out of proportion', () => {
  test('waits while the network is expensive, and is paid when it is not', async () => {
    const { behaviour } = fixture.fakes.eth
    const usual = behaviour.feeRate
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, UNITS)
    behaviour.feeRate = 10n ** 12n
    await fixture.mineBlocks(4)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: null }])
    const watch = createWatchOutflow(fixture.dependencies)
    await watch()
    expect(await fixture.listAlarmKinds()).toContain('payout-fee')
    behaviour.feeRate = usual
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    await watch()
    expect(await fixture.listAlarmKinds()).not.toContain('payout-fee')
  })

  test('is compared with what its own deposit was charged, and is paid when the operator releases it', async () => {
    const { behaviour } = fixture.fakes.eth
    const usual = behaviour.feeRate
    const exchange = await fixture.createExchange()
    // 24 dollars each; 5 % of that are 0.0003 ETH. Each is charged 0.00021 ETH: three times that is 0.00063.
    for (let n = 0; n < 2; n++) fixture.payDeposit(exchange, 24_000n)
    // A fee of 21 000 gas: 0.00084 ETH.
    behaviour.feeRate = 40n * 10n ** 9n
    await fixture.mineBlocks(4)
    const waiting = await fixture.listPayouts(exchange)
    expect(waiting.map(({ state }) => state)).toEqual(['reserved', 'reserved'])
    const { release } = createOperatePayouts(fixture.store)
    await release(waiting[0]?.id ?? '', { actor: 'test', reason: 'the customer is in a hurry' })
    await fixture.mineBlocks(4)
    expect((await fixture.listPayouts(exchange)).map(({ state }) => state).sort()).toEqual(['confirmed', 'reserved'])
    behaviour.feeRate = usual
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

// M21: the share of the payment was compared first, so that gas counted only where a payment was small.
describe('M21: a payment whose recipient burns 450 000 gas, at the usual fee', () => {
  const GWEI = 10n ** 9n
  /** Gas of a payment to this recipient; `undefined` = to anyone. Returns what restores the estimates and the fee. */
  const setGas = (gas: bigint, recipient?: string) => {
    const { chain, behaviour } = fixture.fakes.eth
    const { gasLimit } = chain.sender
    const { feeRate } = behaviour
    chain.sender.gasLimit = async (pay, from) =>
      recipient === undefined || pay.address === recipient ? gas : gasLimit(pay, from)
    // The usual fee of 21 000 gas is 0.00023 ETH; the quotes have 0.00021.
    behaviour.feeRate = 11n * GWEI
    return () => {
      chain.sender.gasLimit = gasLimit
      behaviour.feeRate = feeRate
    }
  }
  const BURNT = 450_000n

  test('is held if its recipient burns the gas, and is paid when the operator releases it', async () => {
    const exchange = await fixture.createExchange()
    const restore = setGas(BURNT, exchange.recipient?.address)
    // 5 000 dollars: the fee is 20 of them.
    fixture.payDeposit(exchange, COIN / 20n)
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    const [payout] = await fixture.listPayouts(exchange)
    expect(await fixture.store.alarms.find(`payout:${payout?.id}`)).toMatchObject({
      detail: {
        code: 'SIMULATION_FAILED',
        reason: 'the recipient uses 450000 gas, more than 3 times the 21000 of a usual payment',
      },
    })
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(4)
    restore()
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('is held as a refund, too', async () => {
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
    expect(await fixture.store.exchanges.cancel(exchange.id)).toBe('cancelled')
    const restore = setGas(BURNT, exchange.refund?.address)
    fixture.payDeposit(exchange, (12n * ETHER) / 100n)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ purpose: 'refund', state: 'reserved' }])
    restore()
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'CANCELLED' })
  })

  test.each([
    // 63 000 gas are three times the usual: more than a create lets a smart wallet use.
    ['is paid at once to a smart wallet that uses what a create accepts', 63_000n, true],
    // As on Arbitrum, whose estimates hold the cost of layer 1.
    ['is paid at once if the same payment to our own wallet needs as much', BURNT, false],
  ])('%s', async (_title, gas, isOfRecipient) => {
    const exchange = await fixture.createExchange()
    const restore = setGas(gas, isOfRecipient ? exchange.recipient?.address : undefined)
    fixture.payDeposit(exchange, COIN / 20n)
    await fixture.mineBlocks(6)
    restore()
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

// In a batch only the sum was compared: a large payout carried small ones that cost more than they earned.
test('M21: of two payouts that are due together, the small one waits for a lower fee and the large one is paid', async () => {
  const { sender } = fixture.fakes.btc.chain
  const { payoutFee } = sender
  await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
  const exchanges: Exchange[] = []
  for (const units of [ETHER, ETHER / 10n]) {
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: units })
    fixture.payDeposit(exchange, units)
    exchanges.push(exchange)
  }
  await fixture.mineBlocks(3)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  // 50 dollars: less than 5 % of 4 000 dollars, more than 5 % of 400 and than three times the 1 500 sat that were charged.
  sender.payoutFee = () => 50_000n
  await fixture.mineBlocks(4)
  const statesOf = async () => (await Promise.all(exchanges.map(fixture.listPayouts))).map(([payout]) => payout?.state)
  expect(await statesOf()).toEqual(['confirmed', 'reserved'])
  expect(await fixture.store.alarms.find('payout-fee:btc')).toMatchObject({ detail: { payouts: 1 } })
  sender.payoutFee = payoutFee
  await fixture.clearHolds()
  await fixture.mineBlocks(4)
  expect(await statesOf()).toEqual(['confirmed', 'confirmed'])
  await fixture.store.alarms.clear('payout-fee:btc')
})

test('a payout from many small inputs of our own is paid', async () => {
  const { sender } = fixture.fakes.btc.chain
  const { build } = sender
  // 200 000 sat for a payout of 500 dollars: the transaction needs dozens of inputs.
  sender.build = (request) => ({ ...build(request), feeUnits: 200_000n })
  const exchange = await fixture.createExchange({ from: eth, to: btc })
  fixture.payDeposit(exchange, ETHER / 8n)
  await fixture.mineBlocks(3)
  sender.build = build
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ attention: null }])
  expect(await fixture.store.alarms.find('payout-fee:btc')).toBeNull()
})

test('a payout is paid without a price of the coin that its fee is paid in', async () => {
  const { books } = fixture
  const { prices } = books.current()
  const exchange = await fixture.createExchange({ from: btc, to: usdt })
  fixture.payDeposit(exchange, UNITS)
  await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
  await fixture.mineBlocks(3)
  await fixture.store.pauses.resume('payouts:eth')
  books.replace({ prices: { ...prices, usd: new Map([...prices.usd].filter(([key]) => key !== 'eth')) } })
  await fixture.services.dispatch('eth')
  books.replace({ prices })
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed' }])
})

describe('a create', () => {
  const check = (
    extraGas: Chain['sender']['extraGas'],
    { asset } = eth,
    field: 'address' | 'refundAddress' = 'address',
  ) => {
    const { chain } = fixture.fakes.eth
    const chains = new Map([['eth', { ...chain, sender: { ...chain.sender, ...(extraGas ? { extraGas } : {}) } }]])
    return checkRecipientGas(chains, asset, { address: 'a contract', memo: null }, field)
  }
  const failing = (code: 'SIMULATION_FAILED' | 'NETWORK_UNAVAILABLE') => async () => {
    throw new AppError(code, 'a test')
  }

  test('M21: refuses a contract that uses more than 60 000 gas, or refuses payments', async () => {
    await expect(check(async () => 39_001n)).rejects.toMatchObject({ code: 'INVALID_ADDRESS' })
    await expect(check(failing('SIMULATION_FAILED'))).rejects.toMatchObject({ code: 'INVALID_ADDRESS' })
    await check(async () => 39_000n)
    const refused = { code: 'INVALID_REFUND_ADDRESS', problems: [{ field: 'refundAddress' }] }
    await expect(check(async () => 39_001n, eth, 'refundAddress')).rejects.toMatchObject(refused)
  })

  test('accepts it for a token, and if the nodes give no answer', async () => {
    await check(async () => 500_000n, usdt)
    await check(failing('NETWORK_UNAVAILABLE'))
    await check(undefined)
    await check(() => new Promise(() => undefined))
  })
})
