import { p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parametersOf } from '../../sandbox/src/bitcoin/addresses.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode } from '../support/nodes.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

/** Further outputs make the child large, so that it pays much in all and little per byte. */
const CHILD_OUTPUTS = 20
const CHILD_OUTPUT_UNITS = 1_000n
const toUnits = (coins: unknown) => BigInt(Math.round(Number(coins) * 1e8))

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'], settings: { stuckMs: 1_000 } })
})
afterAll(() => scenario.stop())

// M26: nodes refuse a replacement that pays less than all that it evicts (BIP-125, rule 3).
test('M26: replaces a payout whose recipient has spent it by a child that pays much in all and little per byte', async () => {
  const { address, privateKey } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '1', address })
  const payoutHash = async (): Promise<string> => (await scenario.status(exchange)).exchanges[0]?.payoutHash
  const first = await whileMiningPaused(scenario, 'btc', async () => {
    await scenario.deposit(exchange, '1')
    const hash = await scenario.until('the payout is signed', payoutHash)
    await scenario.until('the payout is in the mempool', async () =>
      (await callNode('btc', 'getrawmempool')).includes(hash),
    )
    const entry = await callNode('btc', 'getmempoolentry', [hash])
    // Half as much again as the payout: together less than four times the current estimate, and more than a usual raise.
    const feeUnits = (toUnits(entry.fees.base) * 3n) / 2n
    await callNode('btc', 'sendrawtransaction', [await signChild(hash, privateKey, address, feeUnits)])
    await scenario.until('the payout is replaced', async () => (await payoutHash()) !== hash)
    await scenario.until('the replacement is in the mempool', async () =>
      (await callNode('btc', 'getrawmempool')).includes(await payoutHash()),
    )
    return hash
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges[0].payoutHash).not.toBe(first)
  await scenario.checkInvariants()
})

/** Spends the recipient's output of a transaction to itself. */
async function signChild(txid: string, privateKey: string, address: string, feeUnits: bigint): Promise<string> {
  const key = WIF(parametersOf('btc')).decode(privateKey)
  const { script } = p2wpkh(pubECDSA(key), parametersOf('btc'))
  const parent = await callNode('btc', 'getrawtransaction', [txid, true])
  const output: Json = parent.vout.find((one: Json) => one.scriptPubKey.address === address)
  const units = toUnits(output.value)
  const transaction = new Transaction()
  transaction.addInput({ txid, index: output.n, witnessUtxo: { script, amount: units } })
  for (let n = 0; n < CHILD_OUTPUTS; n++) transaction.addOutput({ script, amount: CHILD_OUTPUT_UNITS })
  transaction.addOutput({ script, amount: units - feeUnits - BigInt(CHILD_OUTPUTS) * CHILD_OUTPUT_UNITS })
  transaction.sign(key)
  transaction.finalize()
  return transaction.hex
}
