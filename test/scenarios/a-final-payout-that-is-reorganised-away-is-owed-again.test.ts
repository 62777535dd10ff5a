import { bytesToHex, type Hex, parseGwei, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatePayouts } from '../../server/src/exchange/operations/operate-payouts.ts'
import { alarms, booked } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall, nodeOf } from '../support/nodes.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

// A reorganisation of the sandbox's EVM chains drops what everybody paid in it: no other scenario uses this network.
const network = 'cchain'
const currency = 'avax@cchain'
/** More blocks than are ever above a payout that is final here: what lies so far below it stays. */
const DEEP = 24

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', network] })
  await scenario.mine(network, DEEP + 4)
})
afterAll(() => scenario.stop())

type Last = Readonly<{ id: string; state: string; conflict_key: string; tx_hash: string }>
const last = async (): Promise<Last | undefined> =>
  (
    await scenario.app.database.query<Last>(
      `select t.id, t.state, t.conflict_key, a.tx_hash from transactions t join attempts a on a.transaction_id = t.id
       where t.network = $1 and t.branch = 'hot' order by a.id desc limit 1`,
      [network],
    )
  )[0]

/** An exchange whose payout is as deep as anything is waited for; automatic mining is paused. */
async function paidForGood(): Promise<{ exchange: Json; address: string; item: Json }> {
  const { address } = await scenario.wallet(network)
  const exchange = await scenario.create({ from: 'btc@btc', to: currency, amount: '0.005', address })
  await scenario.deposit(exchange, '0.005')
  const { exchanges } = await scenario.settles(exchange, 'finished')
  await scenario.mine(network, 12)
  await scenario.app.database.query(
    "update transactions set next_check_at = clock_timestamp() where state = 'confirmed'",
  )
  await scenario.until('the payout is final', async () => (await last())?.state === 'final')
  return { exchange, address, item: exchanges[0] }
}

/** Takes the payout's block back, and no more. Other tests make blocks here, too: how many are above it is seen. */
async function takeBack(payoutHash: string): Promise<void> {
  const { blockNumber } = await nodeCall(network, 'eth_getTransactionReceipt', [payoutHash])
  const tip = await nodeCall(network, 'eth_blockNumber')
  await scenario.reorg(network, Number(tip) - Number(blockNumber) + 1)
}

const nonceOf = (conflictKey: string) => Number(conflictKey.split(':')[1])

test('the same bytes are mined again, and the partner sees it meanwhile', async () => {
  const { exchange, address, item } = await paidForGood()
  await whilePaused(scenario, network, async () => {
    await takeBack(item.payoutHash)
    expect(await scenario.balance(currency, address)).toBe('0')
    await scenario.until(
      'the exchange says so',
      async () => (await scenario.status(exchange)).statusReason === 'PAYOUT_VANISHED',
    )
    await scenario.until('the node has it again', () =>
      nodeCall(network, 'eth_getTransactionByHash', [item.payoutHash]),
    )
  })
  await scenario.until('it is there', async () => (await scenario.status(exchange)).statusReason === null)
  const now = await scenario.status(exchange)
  expect(now.status).toBe('finished')
  expect(now.exchanges[0]).toMatchObject({ payoutHash: item.payoutHash, amountToReceived: item.amountToReceived })
  expect(await scenario.balance(currency, address)).toBe(item.amountToReceived)
  expect(await alarms(scenario, 'orphaned:')).toEqual([])
  await scenario.invariants()
})

test('a payout whose nonce another transaction used is owed again, and paid once by a word', async () => {
  const { exchange, address, item } = await paidForGood()
  await scenario.mine(network, DEEP)
  const { exchange: second, address: customer, item: lost } = await paidForGood()
  const transaction = await last()
  expect(transaction?.tx_hash).toBe(lost.payoutHash)
  const wallet = await booked(scenario, 'asset:wallet', currency)
  const fee = parseGwei('1')
  await whilePaused(scenario, network, async () => {
    await scenario.stopWorkers()
    await takeBack(lost.payoutHash)
    // A thief with the wallet's key replaces the payment.
    const thief = privateKeyToAccount(bytesToHex(scenario.hotKey(network)))
    expect(thief.address).toBe(scenario.app.chains.get(network)?.addresses.hot())
    const conflicting = await thief.signTransaction({
      type: 'eip1559',
      chainId: nodeOf(network).chainId ?? 0,
      nonce: nonceOf(transaction?.conflict_key ?? ''),
      to: thief.address,
      value: 0n,
      gas: 21_000n,
      maxFeePerGas: fee * 100n,
      maxPriorityFeePerGas: fee,
    })
    await nodeCall(network, 'eth_sendRawTransaction', [conflicting])
    await scenario.mine(network, 14)
    await scenario.startWorkers()
  })
  const shown = await scenario.until('the payout is proven invalid', async () => {
    const now = await scenario.status(second)
    return now.exchanges[0].payoutHash === null ? now : null
  })
  expect(shown).toMatchObject({ status: 'finished', statusReason: 'PAYOUT_VANISHED' })
  expect(shown.exchanges[0]).toMatchObject({ statusReason: 'PAYOUT_VANISHED', amountToReceived: null })
  const [held] = await scenario.app.store.operator.listHeldPayouts(10)
  expect(held).toMatchObject({ exchangeId: second.id, attention: 'LOST', lost: true })
  const units = parseUnits(lost.amountToReceived, 18)
  expect(await booked(scenario, `liability:lost:${held?.id}`, currency)).toBe(-units)
  expect(await alarms(scenario, 'reversed:')).toHaveLength(1)
  // The wallet signed what the app never did: everything stands until a person has looked.
  await scenario.until('the intrusion is seen', async () => (await alarms(scenario, 'intrusion:')).length === 1)
  expect(await scenario.balance(currency, customer)).toBe('0')
  expect((await booked(scenario, 'asset:wallet', currency)) - wallet).toBeGreaterThan(units)

  await createOperatePayouts(scenario.app.store).release(held?.id ?? '', { actor: 'anna', reason: 'not paid by hand' })
  await scenario.app.store.pauses.resume(`payouts:${network}`)
  const paid = await scenario.until('it is paid', async () => {
    const now = await scenario.status(second)
    return now.statusReason === null ? now : null
  })
  expect(paid.exchanges[0].payoutHash).not.toBe(lost.payoutHash)
  expect(await scenario.balance(currency, customer)).toBe(lost.amountToReceived)
  // The old bytes are refused for ever.
  const [{ raw = '' } = {}] = await scenario.app.database.query<{ raw: Hex }>(
    'select raw from attempts where tx_hash = $1',
    [lost.payoutHash],
  )
  await expect(nodeCall(network, 'eth_sendRawTransaction', [raw])).rejects.toThrow()
  await scenario.mine(network, 4)
  expect(await scenario.balance(currency, customer)).toBe(lost.amountToReceived)
  expect(await booked(scenario, `liability:lost:${held?.id}`, currency)).toBe(0n)
  // What was final below is what it was.
  expect((await scenario.status(exchange)).exchanges[0].payoutHash).toBe(item.payoutHash)
  expect(await scenario.balance(currency, address)).toBe(item.amountToReceived)
  expect(await scenario.app.store.reconciliation.imbalance()).toEqual([])
  // To the wei but for what the thief burnt.
  const chain = scenario.app.chains.get(network)
  const asset = scenario.app.catalogue.list().find((one) => one.asset.id === currency)?.asset
  if (!chain || !asset) throw new Error('the test chains have it')
  const holds = await chain.reader.balance(chain.addresses.hot(), asset)
  const burnt = (await booked(scenario, 'asset:wallet', currency)) - holds
  expect(burnt).toBeGreaterThan(0n)
  expect(burnt).toBeLessThanOrEqual(21_000n * fee * 100n)
})
