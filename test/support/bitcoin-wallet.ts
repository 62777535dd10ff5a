import { randomBytes } from 'node:crypto'
import { p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { parseUnits } from 'viem'
import { type BitcoinTicker, parametersOf, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { createOutputReader } from '../../sandbox/src/bitcoin/outputs.ts'
import { createJsonRpc } from '../../sandbox/src/json-rpc.ts'
import { findNode, nodeCaller } from './nodes.ts'
import type { Json, Scenario } from './scenario.ts'

/** Fee of the wallet's transactions: far above the relay minimum, far below the amounts in tests. */
const FEE_UNITS = 20_000n
/** Signals that the transaction can be replaced (BIP-125), or not. */
const SEQUENCE = { replaceable: 0xfffffffd, final: 0xfffffffe } as const

export type Output = Readonly<{ address: string; amount: string }>
export type Signed = Readonly<{ txid: string; hex: string }>

/** A customer's wallet with one confirmed UTXO. It can pay several outputs at once and can double-spend the UTXO. */
export type BitcoinWallet = Readonly<{
  address: string
  /**
   * Signs a transaction that spends the UTXO and returns the change to the wallet. `feeTimes` multiplies the fee. Nodes mine
   * and relay the transaction only above the height `lockTime`.
   */
  sign(outputs: readonly Output[], feeTimes?: bigint, lockTime?: number): Signed
  send(signed: Signed): Promise<string>
}>

export async function fundBitcoinWallet(
  scenario: Scenario,
  network: BitcoinTicker,
  amount: string,
  signals: keyof typeof SEQUENCE = 'replaceable',
): Promise<BitcoinWallet> {
  const { address, privateKey } = await scenario.wallet(network)
  const key = WIF(parametersOf(network)).decode(privateKey)
  const { script } = p2wpkh(pubECDSA(key), parametersOf(network))
  const call = nodeCaller(network, scenario.chains)
  const { hash: txid } = await scenario.control('/deposits', { network, currency: 'native', address, amount })
  const units = parseUnits(amount, 8)
  const funding = await scenario.until('the wallet has its UTXO', async () => {
    const transaction = await call('getrawtransaction', txid, true)
    return (transaction.confirmations ?? 0) > 0 ? transaction : null
  })
  const index: number = funding.vout.find(
    (output: Json) => output.scriptPubKey.hex === Buffer.from(script).toString('hex'),
  ).n
  return {
    address,
    sign(outputs, feeTimes = 1n, lockTime = 0) {
      const transaction = new Transaction({ lockTime })
      transaction.addInput({ txid, index, sequence: SEQUENCE[signals], witnessUtxo: { script, amount: units } })
      const payments = outputs.map((output) => ({
        script: scriptOfAddress(network, output.address),
        amount: parseUnits(output.amount, 8),
      }))
      const paidUnits = payments.reduce((sum, payment) => sum + payment.amount, 0n)
      for (const payment of payments) transaction.addOutput(payment)
      transaction.addOutput({ script, amount: units - FEE_UNITS * feeTimes - paidUnits })
      transaction.sign(key)
      transaction.finalize()
      return { txid: transaction.id, hex: transaction.hex }
    },
    send: ({ hex }) => call('sendrawtransaction', hex),
  }
}

/**
 * Replaces the block of `txid` and all later blocks by a longer branch that contains `replacement`. Mining must be paused.
 * All other transactions return to the mempool; the sandbox's `drop` would also remove the bank's payments. `blocksBelow`
 * more blocks are replaced, so that the lock time of `txid` keeps it out of the mempool.
 */
export async function replaceBlocks(
  { chains }: Scenario,
  network: BitcoinTicker,
  txid: string,
  replacement: Signed | null,
  blocksBelow = 0,
): Promise<void> {
  const call = nodeCaller(network, chains)
  const mined = await call('getrawtransaction', txid, true)
  const height: number = (await call('getblockheader', mined.blockhash)).height - blocksBelow
  const blockhash: string = await call('getblockhash', height)
  const tipHeight: number = await call('getblockcount')
  const rpc = createJsonRpc(findNode(network, chains).rpcUrls[0] ?? '')
  const outputs = createOutputReader(rpc)
  const otherTransactions = (await outputs.readTransactionsSince(blockhash)).filter((bytes) => bytes !== mined.hex)
  await call('invalidateblock', blockhash)
  for (let newHeight = height; newHeight <= tipHeight + 1; newHeight++) {
    const included = newHeight === height && replacement ? [replacement.hex] : []
    await call('generateblock', `raw(6a10${randomBytes(16).toString('hex')})`, included)
  }
  // Nodes reject the transactions that spend outputs of `txid`.
  await outputs.rebroadcast(otherTransactions)
  rpc.close()
}
