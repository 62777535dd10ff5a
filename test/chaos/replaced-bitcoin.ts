import { setTimeout as delay } from 'node:timers/promises'
import { Transaction } from '@scure/btc-signer'
import { randomPrivateKeyBytes } from '@scure/btc-signer/utils.js'
import { formatUnits } from 'viem'
import { keyOf, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { nullIfRefused } from '../support/node-refusal.ts'
import type { Json } from '../support/until.ts'
import type { Cluster } from './cluster.ts'
import type { Payment } from './customers.ts'

const NETWORK = 'btc'
const DECIMALS = 8
/** Signals that the transaction may be replaced (BIP-125). */
const SEQUENCE = 0xfffffffd
/** Fees of the payment and of its replacement, for about 110 virtual bytes: above the relay minimum, and above the first one. */
const [FEE, REPLACEMENT_FEE] = [2_000n, 20_000n]
/** In this time the server may see the payment in the pool. */
const UNCONFIRMED_MS = 500
/** How often the funding of a wallet is repeated after reorganisations. */
const FUNDINGS_MAX = 5

/**
 * Pays from a wallet of its own, and then replaces the unconfirmed payment by one to the wallet. If a block was faster, the node refuses
 * the replacement, and the payment stands.
 */
export async function payAndReplaceBitcoin(
  cluster: Pick<Cluster, 'call' | 'control'>,
  to: string,
  units: bigint,
): Promise<Payment> {
  for (let left = FUNDINGS_MAX; left > 0; left--) {
    const { sign, address } = await fundWallet(cluster, units + FEE)
    const payment = sign(to, FEE)
    // A node that has lost the funding in a reorganisation refuses it.
    if ((await cluster.call(NETWORK, 'sendrawtransaction', [payment.hex]).catch(nullIfRefused)) === null) continue
    await delay(UNCONFIRMED_MS)
    await cluster.call(NETWORK, 'sendrawtransaction', [sign(address, REPLACEMENT_FEE).hex]).catch(nullIfRefused)
    return { network: NETWORK, hash: payment.id, units, raw: null, payer: null }
  }
  throw new Error(`the node refused ${FUNDINGS_MAX} payments of ${units} to ${to}`)
}

/** A wallet with one UTXO, which its transactions spend as a whole. */
async function fundWallet({ call, control }: Pick<Cluster, 'call' | 'control'>, units: bigint) {
  const { address, script, privateKey } = keyOf(NETWORK, randomPrivateKeyBytes())
  const amount = formatUnits(units, DECIMALS)
  const { hash: txid } = await control('/deposits', { network: NETWORK, currency: NETWORK, address, amount })
  const funding: Json = await call(NETWORK, 'getrawtransaction', [txid, true]).catch(nullIfRefused)
  const paid = Buffer.from(script).toString('hex')
  const index: number = funding?.vout.find((output: Json) => output.scriptPubKey.hex === paid).n ?? 0
  return {
    address,
    sign(to: string, fee: bigint): Transaction {
      const transaction = new Transaction()
      transaction.addInput({ txid, index, sequence: SEQUENCE, witnessUtxo: { script, amount: units } })
      transaction.addOutput({ script: scriptOfAddress(NETWORK, to), amount: units - fee })
      transaction.sign(privateKey)
      transaction.finalize()
      return transaction
    },
  }
}
