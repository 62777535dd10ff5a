import { parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperateExchanges } from '../../server/src/exchange/operations/operate-exchanges.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { findNode } from '../support/nodes.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

const auditNote = { actor: 'anna', reason: 'the customer is known to us' }
const privateKey = generatePrivateKey()
const address = privateKeyToAddress(privateKey)
const abi = parseAbi(['function transfer(address to, uint256 units) returns (bool)'])

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], denied: [`eth:${address}`] })
})
afterAll(() => scenario.stop())

test('refunds a held deposit in the wrong asset after its release, without converting it', async () => {
  const refundAddress = (await scenario.wallet('eth')).address
  const { address: recipient } = await scenario.wallet('btc')
  const order = { from: 'wbtc@eth', to: 'btc@btc', amount: '0.01', address: recipient, refundAddress }
  const exchange = await scenario.create(order)
  const wallet = await fundEvmWallet(scenario, 'eth', '1', { address, privateKey })
  const { tokens } = findNode('eth')
  for (const [token, amount] of [
    ['usdt', '50'],
    ['wbtc', '0.01'],
  ] as const)
    await scenario.control('/deposits', { network: 'eth', currency: token, address, amount })
  const balance = (currency: string) => scenario.balance(`${currency}@eth`, address)
  await scenario.until(
    'the wallet has both tokens',
    async () => (await balance('usdt')) === '50' && (await balance('wbtc')) === '0.01',
  )

  // 50 USDT with 6 decimals are as many base units as 0.5 WBTC with 8 decimals.
  const send = (token: string, units: bigint) =>
    wallet.call(tokens[token] as `0x${string}`, abi, 'transfer', [exchange.request.depositAddress, units])
  const wrong = await send('usdt', 50_000_000n)
  const right = await send('wbtc', 1_000_000n)
  const held: Json[] = await waitForItems(scenario, exchange, 2, 'verifying')
  expect(held.map(({ statusReason }) => statusReason)).toEqual(['SCREENING', 'SCREENING'])

  const operate = createOperateExchanges(scenario.app.store)
  await expect(operate.decide(exchange.id, 'release', null, auditNote)).rejects.toThrow('name one with --deposit')
  await operate.decide(exchange.id, 'release', wrong, auditNote)
  await scenario.until(
    'the wrong token is refunded',
    async () => (await scenario.balance('usdt@eth', refundAddress)) !== '0',
  )
  expect(await scenario.balance('btc@btc', recipient)).toBe('0')
  await operate.decide(exchange.id, 'refund', right, auditNote)
  await waitForItems(scenario, exchange, 2, 'refunded')
  expect(await scenario.balance('wbtc@eth', refundAddress)).not.toBe('0')
  expect(await scenario.balance('btc@btc', recipient)).toBe('0')
  await scenario.checkInvariants()
})
