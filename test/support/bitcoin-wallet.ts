import { randomBytes } from 'node:crypto'
import { p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { parseUnits } from 'viem'
import { type BitcoinTicker, parametersOf, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { createOutputReader } from '../../sandbox/src/bitcoin/outputs.ts'
import { createJsonRpc } from '../../sandbox/src/json-rpc.ts'
import { nodeCall, nodeOf } from './nodes.ts'
import type { Json, Scenario } from './scenario.ts'

/** Units that the wallet's transactions leave to the miner: far above what nodes relay, far below any amount here. */
const FEE_UNITS = 20_000n
/** BIP-125: may be replaced. */
const SEQUENCE = 0xfffffffd

export type Output = Readonly<{ address: string; amount: string }>
export type Signed = Readonly<{ txid: string; hex: string }>

/** A customer's own wallet with one confirmed coin: it can pay several outputs at once, and spend the same coin twice. */
export type BitcoinWallet = Readonly<{
  address: string
  /**
   * Signs a payment of the coin; what is left goes back to the wallet. `feeTimes` raises the fee; `lockTime` is the height
   * above which it may be mined, and below which no pool keeps it.
   */
  sign(outputs: readonly Output[], feeTimes?: bigint, lockTime?: number): Signed
  send(signed: Signed): Promise<string>
}>

export async function fundBitcoinWallet(
  scenario: Scenario,
  network: BitcoinTicker,
  amount: string,
): Promise<BitcoinWallet> {
  const { address, privateKey } = await scenario.wallet(network)
  const key = WIF(parametersOf(network)).decode(privateKey)
  const { script } = p2wpkh(pubECDSA(key), parametersOf(network))
  const { hash: txid } = await scenario.control('/deposits', { network, currency: 'native', address, amount })
  const units = parseUnits(amount, 8)
  const found = await scenario.until('the wallet has its coin', async () => {
    const transaction = await nodeCall(network, 'getrawtransaction', [txid, true])
    return (transaction.confirmations ?? 0) > 0 ? transaction : null
  })
  const index: number = found.vout.find(
    (output: Json) => output.scriptPubKey.hex === Buffer.from(script).toString('hex'),
  ).n
  return {
    address,
    sign(outputs, feeTimes = 1n, lockTime = 0) {
      const transaction = new Transaction({ lockTime })
      transaction.addInput({ txid, index, sequence: SEQUENCE, witnessUtxo: { script, amount: units } })
      const pays = outputs.map((output) => ({
        script: scriptOfAddress(network, output.address),
        amount: parseUnits(output.amount, 8),
      }))
      const rest = units - FEE_UNITS * feeTimes - pays.reduce((sum, pay) => sum + pay.amount, 0n)
      for (const pay of pays) transaction.addOutput(pay)
      transaction.addOutput({ script, amount: rest })
      transaction.sign(key)
      transaction.finalize()
      return { txid: transaction.id, hex: transaction.hex }
    },
    send: ({ hex }) => nodeCall(network, 'sendrawtransaction', [hex]),
  }
}

/**
 * Replaces the blocks from the one with `txid` on by a longer branch that holds `instead`; mining must be paused. Everybody
 * else's transactions go back to the mempool: the sandbox's own `drop` would take away all that the bank paid meanwhile.
 * `below`: so many blocks below are replaced too, where `txid` may not be mined yet and no pool keeps it.
 */
export async function mineInstead(
  network: BitcoinTicker,
  txid: string,
  instead: Signed | null,
  below = 0,
): Promise<void> {
  const mined = await nodeCall(network, 'getrawtransaction', [txid, true])
  const height: number = (await nodeCall(network, 'getblockheader', [mined.blockhash])).height - below
  const blockhash: string = await nodeCall(network, 'getblockhash', [height])
  const top: number = await nodeCall(network, 'getblockcount')
  const rpc = createJsonRpc(nodeOf(network).rpcUrls[0] ?? '')
  const outputs = createOutputReader(rpc)
  const others = (await outputs.readTransactionsSince(blockhash)).filter((bytes) => bytes !== mined.hex)
  await nodeCall(network, 'invalidateblock', [blockhash])
  for (let at = height; at <= top + 1; at++) {
    await nodeCall(network, 'generateblock', [
      `raw(6a10${randomBytes(16).toString('hex')})`,
      at === height && instead ? [instead.hex] : [],
    ])
  }
  // What spent `txid` is refused.
  await outputs.rebroadcast(others)
  rpc.close()
}
