import { bytesToHex, type Hex, parseGwei, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatePayouts } from '../../server/src/exchange/operations/operate-payouts.ts'
import { findLedgerFaults } from '../support/ledger.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode, findNode } from '../support/nodes.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { readAlarms, readBalance } from '../support/scenario-reads.ts'

// A reorganisation of a sandbox EVM chain drops all transactions of its blocks, so no other scenario uses this network.
const network = 'cchain'
const currency = 'avax@cchain'
/** More blocks than any reorganisation in this test removes, so that older blocks stay. */
const SAFE_DEPTH = 24

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', network] })
  await scenario.mine(network, SAFE_DEPTH + 4)
})
afterAll(() => scenario.stop())

type LatestAttempt = Readonly<{ id: string; state: string; conflict_key: string; tx_hash: string }>
const readLatestAttempt = async (): Promise<LatestAttempt | undefined> =>
  (
    await scenario.app.database.query<LatestAttempt>(
      `select t.id, t.state, t.conflict_key, a.tx_hash from transactions t join attempts a on a.transaction_id = t.id
       where t.network = $1 and t.branch = 'hot' order by a.id desc limit 1`,
      [network],
    )
  )[0]

/** Creates and pays an exchange, and waits until its payout is final. */
async function createFinalPayout(): Promise<{ exchange: Json; address: string; item: Json }> {
  const { address } = await scenario.wallet(network)
  const exchange = await scenario.create({ from: 'btc@btc', to: currency, amount: '0.005', address })
  await scenario.deposit(exchange, '0.005')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  await scenario.mine(network, 12)
  await scenario.app.database.query(
    "update transactions set next_check_at = clock_timestamp() where state = 'confirmed'",
  )
  await scenario.until('the payout is final', async () => (await readLatestAttempt())?.state === 'final')
  return { exchange, address, item: exchanges[0] }
}

/** Reorganises the payout's block and all blocks above it. */
async function reorgPayout(payoutHash: string): Promise<void> {
  const { blockNumber } = await callNode(network, 'eth_getTransactionReceipt', [payoutHash])
  const tip = await callNode(network, 'eth_blockNumber')
  await scenario.reorg(network, Number(tip) - Number(blockNumber) + 1)
}

const readNonce = (conflictKey: string) => Number(conflictKey.split(':')[1])

test('rebroadcasts the same transaction and reports PAYOUT_VANISHED until it is mined', async () => {
  const { exchange, address, item } = await createFinalPayout()
  await whileMiningPaused(scenario, network, async () => {
    await reorgPayout(item.payoutHash)
    expect(await scenario.balance(currency, address)).toBe('0')
    await scenario.until(
      'the exchange reports the missing payout',
      async () => (await scenario.status(exchange)).statusReason === 'PAYOUT_VANISHED',
    )
    await scenario.until('the node has the payout again', () =>
      callNode(network, 'eth_getTransactionByHash', [item.payoutHash]),
    )
  })
  await scenario.until('the payout is mined again', async () => (await scenario.status(exchange)).statusReason === null)
  const now = await scenario.status(exchange)
  expect(now.status).toBe('finished')
  expect(now.exchanges[0]).toMatchObject({ payoutHash: item.payoutHash, amountToReceived: item.amountToReceived })
  expect(await scenario.balance(currency, address)).toBe(item.amountToReceived)
  expect(await readAlarms(scenario, 'orphaned:')).toEqual([])
  await scenario.checkInvariants()
})

test('a payout whose nonce another transaction used is reversed, and paid once after an operator releases it', async () => {
  const { exchange, address, item } = await createFinalPayout()
  await scenario.mine(network, SAFE_DEPTH)
  const { exchange: second, address: customer, item: reversed } = await createFinalPayout()
  const transaction = await readLatestAttempt()
  expect(transaction?.tx_hash).toBe(reversed.payoutHash)
  const wallet = await readBalance(scenario, 'asset:wallet', currency)
  const fee = parseGwei('1')
  await whileMiningPaused(scenario, network, async () => {
    await scenario.stopWorkers()
    await reorgPayout(reversed.payoutHash)
    // A thief with the wallet's key uses the payout's nonce.
    const thief = privateKeyToAccount(bytesToHex(scenario.hotKey(network)))
    expect(thief.address).toBe(scenario.app.chains.get(network)?.addresses.hot())
    const conflicting = await thief.signTransaction({
      type: 'eip1559',
      chainId: findNode(network).chainId ?? 0,
      nonce: readNonce(transaction?.conflict_key ?? ''),
      to: thief.address,
      value: 0n,
      gas: 21_000n,
      maxFeePerGas: fee * 100n,
      maxPriorityFeePerGas: fee,
    })
    await callNode(network, 'eth_sendRawTransaction', [conflicting])
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
  expect(held).toMatchObject({ exchangeId: second.id, attention: 'LOST', isReversed: true })
  const units = parseUnits(reversed.amountToReceived, 18)
  expect(await readBalance(scenario, `liability:lost:${held?.id}`, currency)).toBe(-units)
  expect(await readAlarms(scenario, 'reversed:')).toHaveLength(1)
  // A transaction that the app did not sign pauses the payouts until an operator resumes them.
  await scenario.until(
    'the intrusion alarm is raised',
    async () => (await readAlarms(scenario, 'intrusion:')).length === 1,
  )
  expect(await scenario.balance(currency, customer)).toBe('0')
  expect((await readBalance(scenario, 'asset:wallet', currency)) - wallet).toBeGreaterThan(units)

  await createOperatePayouts(scenario.app.store).release(held?.id ?? '', { actor: 'anna', reason: 'not paid by hand' })
  await scenario.app.store.pauses.resume(`payouts:${network}`)
  const paid = await scenario.until('the payout is paid again', async () => {
    const now = await scenario.status(second)
    return now.statusReason === null ? now : null
  })
  expect(paid.exchanges[0].payoutHash).not.toBe(reversed.payoutHash)
  expect(await scenario.balance(currency, customer)).toBe(reversed.amountToReceived)
  // Nodes reject the original payout.
  const [{ raw = '' } = {}] = await scenario.app.database.query<{ raw: Hex }>(
    'select raw from attempts where tx_hash = $1',
    [reversed.payoutHash],
  )
  await expect(callNode(network, 'eth_sendRawTransaction', [raw])).rejects.toThrow()
  await scenario.mine(network, 4)
  expect(await scenario.balance(currency, customer)).toBe(reversed.amountToReceived)
  expect(await readBalance(scenario, `liability:lost:${held?.id}`, currency)).toBe(0n)
  // The first payout is unchanged.
  expect((await scenario.status(exchange)).exchanges[0].payoutHash).toBe(item.payoutHash)
  expect(await scenario.balance(currency, address)).toBe(item.amountToReceived)
  expect(await findLedgerFaults(scenario.app.database)).toEqual([])
  // The ledger exceeds the wallet only by the gas that the thief spent.
  const chain = scenario.app.chains.get(network)
  const asset = scenario.app.catalogue.list().find((entry) => entry.asset.id === currency)?.asset
  if (!chain || !asset) throw new Error(`the app does not serve ${currency}`)
  const walletUnits = await chain.reader.balance(chain.addresses.hot(), asset)
  const spentGas = (await readBalance(scenario, 'asset:wallet', currency)) - walletUnits
  expect(spentGas).toBeGreaterThan(0n)
  expect(spentGas).toBeLessThanOrEqual(21_000n * fee * 100n)
})
