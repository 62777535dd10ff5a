import { createHash, ECDH } from 'node:crypto'
import { parseUnits } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { type BitcoinTicker, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { nodeCall } from '../support/nodes.ts'
import type { Json } from '../support/scenario.ts'
import { coinOf, evmHolder, keyHolder, type Movement, type Side } from './movements.ts'

/** Every payment of the blocks above `after`, by the node's public RPC. Rewards of blocks are nobody's here. */
export async function readBitcoin(network: BitcoinTicker, after: number): Promise<readonly Movement[]> {
  const top: number = await nodeCall(network, 'getblockcount')
  const known = new Map<string, Json>()
  const movements: Movement[] = []
  const outputOf = async ({ txid, vout }: Json): Promise<Json> => {
    const transaction = known.get(txid) ?? (await nodeCall(network, 'getrawtransaction', [txid, true]))
    known.set(txid, transaction)
    return transaction.vout[vout]
  }
  for (let height = after + 1; height <= top; height++) {
    const block = await nodeCall(network, 'getblock', [await nodeCall(network, 'getblockhash', [height]), 2])
    for (const transaction of block.tx) {
      known.set(transaction.txid, transaction)
      // Litecoin's last transaction of a block carries its extension block: no payment.
      if (transaction.vin.some((input: Json) => input.coinbase !== undefined || input.txid === undefined)) continue
      const spent = await Promise.all(transaction.vin.map(outputOf))
      movements.push({
        network,
        txHash: transaction.txid,
        height,
        time: block.time,
        from: spent.map((output) => sideOf(network, output)),
        to: transaction.vout
          .filter((output: Json) => !isContent(output))
          .map((output: Json) => sideOf(network, output)),
        keys: transaction.vin.flatMap(shownKey),
        contents: transaction.vout.filter(isContent).map((output: Json) => output.scriptPubKey.hex.slice(4)),
      })
    }
  }
  return movements
}

export const bitcoinHolder = (network: BitcoinTicker, address: string): string =>
  holderOf(Buffer.from(scriptOfAddress(network, address)).toString('hex'))

const RETURN = '6a'
const isContent = ({ scriptPubKey }: Json): boolean => scriptPubKey.hex.startsWith(RETURN)

function sideOf(network: string, { value, scriptPubKey }: Json): Side {
  return {
    holder: holderOf(scriptPubKey.hex),
    asset: coinOf(network),
    units: parseUnits(Number(value).toFixed(8), 8),
  }
}

/** P2WPKH and P2PKH pay to the hash of a key; anything else is known by its script. */
function holderOf(script: string): string {
  const hash = /^0014([0-9a-f]{40})$/.exec(script)?.[1] ?? /^76a914([0-9a-f]{40})88ac$/.exec(script)?.[1]
  return hash === undefined ? `script:${script}` : keyHolder(hash)
}

/** The key behind a witness of P2WPKH, and the address that it would have on EVM networks. */
function shownKey({ txinwitness }: Json): (readonly [string, string])[] {
  const key: string | undefined = txinwitness?.length === 2 ? txinwitness[1] : undefined
  if (key?.length !== 66) return []
  const sha = createHash('sha256').update(key, 'hex').digest()
  const hash = createHash('ripemd160').update(sha).digest('hex')
  const whole = ECDH.convertKey(key, 'secp256k1', 'hex', 'hex', 'uncompressed')
  return [[keyHolder(hash), evmHolder(publicKeyToAddress(`0x${String(whole)}`))]]
}
