import { createHash, ECDH } from 'node:crypto'
import { parseUnits } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { type BitcoinTicker, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { callNode } from '../support/nodes.ts'
import type { Json } from '../support/scenario.ts'
import { findNativeAsset, type Movement, type Side, toEvmHolder, toKeyHolder } from './movements.ts'

/** Reads every payment in the blocks above `after` through the node's public RPC. Omits block rewards. */
export async function readBitcoin(network: BitcoinTicker, after: number): Promise<readonly Movement[]> {
  const top: number = await callNode(network, 'getblockcount')
  const transactions = new Map<string, Json>()
  const movements: Movement[] = []
  const readOutput = async ({ txid, vout }: Json): Promise<Json> => {
    const transaction = transactions.get(txid) ?? (await callNode(network, 'getrawtransaction', [txid, true]))
    transactions.set(txid, transaction)
    return transaction.vout[vout]
  }
  for (let height = after + 1; height <= top; height++) {
    const block = await callNode(network, 'getblock', [await callNode(network, 'getblockhash', [height]), 2])
    for (const transaction of block.tx) {
      transactions.set(transaction.txid, transaction)
      // The last transaction of a Litecoin block carries its extension block. It is no payment.
      if (transaction.vin.some((input: Json) => input.coinbase !== undefined || input.txid === undefined)) continue
      const spent = await Promise.all(transaction.vin.map(readOutput))
      movements.push({
        network,
        txHash: transaction.txid,
        height,
        time: block.time,
        from: spent.map((output) => toSide(network, output)),
        to: transaction.vout
          .filter((output: Json) => !isPayload(output))
          .map((output: Json) => toSide(network, output)),
        keys: transaction.vin.flatMap(findRevealedKey),
        payloads: transaction.vout.filter(isPayload).map((output: Json) => output.scriptPubKey.hex.slice(4)),
      })
    }
  }
  return movements
}

export const toBitcoinHolder = (network: BitcoinTicker, address: string): string =>
  toHolder(Buffer.from(scriptOfAddress(network, address)).toString('hex'))

const OP_RETURN = '6a'
const isPayload = ({ scriptPubKey }: Json): boolean => scriptPubKey.hex.startsWith(OP_RETURN)

function toSide(network: string, { value, scriptPubKey }: Json): Side {
  return {
    holder: toHolder(scriptPubKey.hex),
    asset: findNativeAsset(network),
    units: parseUnits(Number(value).toFixed(8), 8),
  }
}

/** P2WPKH and P2PKH pay to the hash of a key. The script identifies every other holder. */
function toHolder(script: string): string {
  const hash = /^0014([0-9a-f]{40})$/.exec(script)?.[1] ?? /^76a914([0-9a-f]{40})88ac$/.exec(script)?.[1]
  return hash === undefined ? `script:${script}` : toKeyHolder(hash)
}

/** The key in a P2WPKH witness, with the address of the same key on EVM networks. */
function findRevealedKey({ txinwitness }: Json): (readonly [string, string])[] {
  const key: string | undefined = txinwitness?.length === 2 ? txinwitness[1] : undefined
  if (key?.length !== 66) return []
  const sha = createHash('sha256').update(key, 'hex').digest()
  const hash = createHash('ripemd160').update(sha).digest('hex')
  const uncompressed = ECDH.convertKey(key, 'secp256k1', 'hex', 'hex', 'uncompressed')
  return [[toKeyHolder(hash), toEvmHolder(publicKeyToAddress(`0x${String(uncompressed)}`))]]
}
