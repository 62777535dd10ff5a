import type { BitcoinParameters } from '../../../core/domain/network.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { addressOf, parseHexScript } from './address.ts'
import type { NodeBlock, NodeTransaction } from './replies.ts'

/** A block in the chain's own terms: everything that it paid and spent. The work is the block's, however many watch. */
export function scanBlock(parameters: BitcoinParameters, block: NodeBlock): ScannedBlock {
  const { hash, height, parentHash, time } = block
  return {
    hash,
    height,
    parentHash,
    time,
    transfers: block.transactions.flatMap((transaction) => transfersOf(parameters, transaction)),
    transactions: block.transactions.map(({ txid, spends }) => ({ txHash: txid, sender: null, nonce: null, spends })),
  }
}

/**
 * What a transaction pays, output by output. Not counted: coinbase outputs, which cannot be spent for a hundred blocks
 * and may vanish; scripts without an address, bare multisig among them. No sender is named: an input's address may be
 * an exchange's, to which nothing must be returned.
 *
 * Litecoin: what leaves its extension blocks comes as outputs of an ordinary transaction (the HogEx) and can be spent
 * after six blocks, no later than a deposit there is deep enough to be spent.
 */
export function transfersOf(parameters: BitcoinParameters, transaction: NodeTransaction): Transfer[] {
  if (transaction.coinbase) return []
  const transfers: Transfer[] = []
  for (const { vout, units, script } of transaction.outputs) {
    const address = units === 0n ? null : addressOf(parameters, parseHexScript(script))
    if (address === null) continue
    transfers.push({
      identity: `${transaction.txid}:${vout}`,
      txHash: transaction.txid,
      address,
      memo: null,
      contract: null,
      units,
      sender: null,
    })
  }
  return transfers
}
