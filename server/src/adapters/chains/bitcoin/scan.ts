import type { BitcoinParameters } from '../../../core/domain/network.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { addressOf, parseHexScript } from './address.ts'
import type { NodeBlock, NodeTransaction } from './replies.ts'

/** All payments and spends of a block. The cost depends on the block only, not on the number of watched addresses. */
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
 * One transfer per output. Skips coinbase outputs (spendable after 100 blocks, and invalid after a reorganisation) and
 * scripts without an address, such as bare multisig. The sender is null: an input's address may belong to an exchange,
 * which must not receive refunds.
 *
 * An output with a CashToken is a transfer of an unlisted token: its digest must contain the token, so our signature would
 * invalidate every payout of the transaction that spends it (M8).
 *
 * Litecoin: a withdrawal from its extension blocks (MWEB) is an output of an ordinary transaction, the HogEx. It is
 * spendable after six blocks, no later than we treat a Litecoin deposit as confirmed.
 */
export function transfersOf(parameters: BitcoinParameters, transaction: NodeTransaction): Transfer[] {
  if (transaction.coinbase) return []
  const transfers: Transfer[] = []
  for (const { vout, units, script, tokenCategory } of transaction.outputs) {
    const address = units === 0n ? null : addressOf(parameters, parseHexScript(script))
    if (address === null) continue
    transfers.push({
      identity: `${transaction.txid}:${vout}`,
      txHash: transaction.txid,
      address,
      memo: null,
      contract: tokenCategory === null ? null : `cashtoken:${tokenCategory}`,
      units,
      sender: null,
    })
  }
  return transfers
}
